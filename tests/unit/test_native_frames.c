/* formats/native_frames.h: how functions of heap logs read, and what they are. */
#include "formats/native_frames.h"
#include "tests/unit/rows.h"

#include <string.h>

static const struct name {
    const char *title; /* of the test */
    const char *name, *object;
    const char *text;
} names[] = {
    {"plain C", "leaf_alloc", "", "leaf_alloc"},
    {"C++ goes without parameters", "ns::T::grow(unsigned long)", "", "ns::T::grow"},
    {"and without template arguments", "void ns::push<int, a<b> >(int&&)", "", "ns::push"},
    {"operators stay", "operator new(unsigned long)", "", "operator new"},
    {"operators of arrays too", "operator new[](unsigned long)", "", "operator new"},
    {"names that end like operators", "run_operator(int)", "", "run_operator"},
    {"calls", "ns::F::operator()(int) const", "", "ns::F::operator()"},
    {"lambdas", "f(int)::{lambda()#1}::operator()() const", "", "f"},
    {"unnamed namespaces", "(anonymous namespace)::fill(int)", "", "fill"},
    {"glibc's own names", "__GI___libc_malloc", "", "__libc_malloc"},
    {"nothing but that", "__GI_", "", "__GI_"},
    {"versions", "pthread_create@@GLIBC_2.34", "", "pthread_create"},
    {"an old version", "memcpy@GLIBC_2.2.5", "", "memcpy"},
    {"a version's own symbol", "__pthread_create_2_1", "", "pthread_create"},
    {"stubs", "malloc@plt", "", "malloc"},
    {"cold parts", "parse.cold", "", "parse"},
    {"numbered parts", "parse.part.0", "", "parse"},
    {"parts of parts", "parse.isra.0.constprop.1.cold", "", "parse"},
    {"clones of C++", "ns::f(int) [clone .cold]", "", "ns::f"},
    {"no part without a number", "main.part", "", "main.part"},
    {"Go", "main.leak", "", "main.leak"},
    {"methods of Go", "main.(*cache).grow", "", "main.(*cache).grow"},
    {"Objective-C", "-[Cache put:for:]", "", "-[Cache put:for:]"},
    {"Rust's hashes", "app::cache::grow::h0123456789abcdef", "", "app::cache::grow"},
    {"no hash", "app::h0123456789abcdeg", "", "app::h0123456789abcdeg"},
    {"Rust's traits", "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "",
     "alloc::vec::Vec::extend"},
    {"Rust's types", "<app::Cache<K>>::grow::<u8>", "", "app::Cache::grow"},
    {"Rust's types of a function around", "app::each::<u8, app::run::{closure#0}>::{closure#1}", "",
     "app::each::{closure}"},
    {"Rust's functions of slices", "app::slices::<impl [T]>::twice", "", "app::slices::twice"},
    {"Rust's traits, as symbols have them",
     "_$LT$app..Cache$LT$K$GT$$u20$as$u20$app..Grow$GT$::grow::h0123456789abcdef", "",
     "app::Cache::grow"},
    {"Rust's library, as symbols have it",
     "_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..iter..Extend$LT$$RF$T$GT$$GT$::extend", "",
     "alloc::vec::Vec::extend"},
    {"Rust's types within, as symbols have them",
     "core::option::Option$LT$$LP$A$C$B$RP$$GT$::map_or_else", "",
     "core::option::Option::map_or_else"},
    {"Rust's functions as types, as symbols have them",
     "_$LT$core..iter..Map$LT$I$C$fn$LP$A$RP$$u20$.$GT$$u20$B$GT$$u20$as$u20$app..Next$GT$::next",
     "", "core::iter::Map::next"},
    {"Rust's closures, as symbols have them",
     "app::main::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef", "", "app::main::{closure}"},
    {"what is no escape of Rust's", "f$u$LT", "", "f$u$LT"},
    {"brackets as an operator", "app::Svc::operator[](unsigned long)", "", "app::Svc::operator[]"},
    {"Rust's closures", "app::main::{{closure}}::h0123456789abcdef", "", "app::main::{closure}"},
    {"Rust's newer closures", "app::main::{closure#0}", "", "app::main::{closure}"},
    {"valgrind's", "(below main)", "", "(below main)"},
    {"unknown in a library", "???", "/usr/lib/libfoo.so.2", "[libfoo.so.2]"},
    {"unknown anywhere", "???", "", "[unknown function]"},
    {"no name", "", "libfoo.so", "[libfoo.so]"},
    {"an address", "0x4004F2", "/opt/app", "[app]"},
    {"brackets that never close", "f<a<b", "", "f"},
    {"a type that never closes", "<a", "", "<a"},
    {"nothing but brackets", "()", "", "()"},
    {"nothing but a version", "@GLIBC", "", "@GLIBC"},
};

static void test_name(void **state)
{
    const struct name *n = *state;
    struct mt_buf out = {0};
    mt_buf_adds(&out, "operator"); /* what stands there already is no part of it */
    mt_native_name(&out, n->name, n->object);
    assert_string_equal(out.s + 8, n->text);
    assert_int_equal(strlen(out.s), out.n);
    mt_buf_free(&out);
}

static const struct kind {
    const char *title; /* of the test */
    const char *name, *object, *file;
    enum mt_native_kind kind;
} kinds[] = {
    {"malloc", "malloc", "", "", MT_NATIVE_ALLOCATOR},
    {"posix_memalign", "posix_memalign", "", "", MT_NATIVE_ALLOCATOR},
    {"strndup", "strndup", "", "", MT_NATIVE_ALLOCATOR},
    {"operator new", "operator new", "", "", MT_NATIVE_ALLOCATOR},
    {"operator new of a class", "ns::T::operator new", "", "", MT_NATIVE_ALLOCATOR},
    {"std::allocator's own", "__gnu_cxx::new_allocator::allocate", "", "", MT_NATIVE_ALLOCATOR},
    {"insides of glibc", "__libc_malloc", "/lib/libc.so.6", "", MT_NATIVE_ALLOCATOR},
    {"whatever of jemalloc", "prof_backtrace_impl", "/usr/lib/libjemalloc.so.2", "",
     MT_NATIVE_ALLOCATOR},
    {"whatever of tcmalloc", "[libtcmalloc.so.4]", "libtcmalloc.so.4", "", MT_NATIVE_ALLOCATOR},
    {"whatever of valgrind", "malloc", "/usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so", "",
     MT_NATIVE_ALLOCATOR},
    {"Python's", "_PyObject_Malloc", "", "", MT_NATIVE_ALLOCATOR},
    {"a function of the program", "leaf_alloc", "", "", MT_NATIVE_CODE},
    {"one that begins like malloc", "malloc_config", "", "", MT_NATIVE_CODE},
    {"one that ends like it", "my_malloc", "", "", MT_NATIVE_CODE},
    {"one of a program named like it", "f", "/opt/libjemalloc/app", "", MT_NATIVE_CODE},
    {"main", "main", "", "", MT_NATIVE_MAIN},
    {"one that begins like main", "main_loop", "", "", MT_NATIVE_CODE},
    {"main of Go", "main.main", "", "", MT_NATIVE_MAIN},
    {"below main", "(below main)", "", "", MT_NATIVE_START},
    {"libc's start", "__libc_start_call_main", "", "", MT_NATIVE_START},
    {"_start", "_start", "", "", MT_NATIVE_START},
    {"threads", "start_thread", "", "", MT_NATIVE_START},
    {"clone3", "clone3", "", "", MT_NATIVE_START},
    {"threads of C++", "std::thread::_State_impl::_M_run", "", "", MT_NATIVE_START},
    {"what is no thread's start", "clone_tree", "", "", MT_NATIVE_CODE},
    {"inlined, as valgrind writes it", "allocate", "", "/usr/include/c++/12/bits/new_allocator.h",
     MT_NATIVE_ALLOCATOR},
    {"allocate of the program", "allocate", "", "pool.h", MT_NATIVE_CODE},
    {"inside vectors", "std::_Vector_base::_M_allocate", "", "", MT_NATIVE_ALLOCATOR},
    {"inside Rust's", "with_capacity_in", "", "/rustc/90b35a6/library/alloc/src/vec/mod.rs",
     MT_NATIVE_ALLOCATOR},
    {"an older Rust's", "push", "", "/rustc/b8cedc0/src/liballoc/vec.rs", MT_NATIVE_ALLOCATOR},
    {"of Rust's library, without a file", "alloc::raw_vec::RawVecInner::finish_grow", "app", "",
     MT_NATIVE_ALLOCATOR},
    {"a program's own", "push", "", "src/alloc/vec.rs", MT_NATIVE_CODE},
    {"a namespace of a program", "alloc::Pool::take", "app", "", MT_NATIVE_CODE},
    {"pages", "mmap", "", "mmap64.c", MT_NATIVE_ALLOCATOR},
    {"threads of C++, inlined", "operator()", "", "std_thread.h", MT_NATIVE_START},
    {"threads of C++ without symbols", "[libstdc++.so.6]", "libstdc++.so.6", "", MT_NATIVE_START},
    {"others of that library", "std::string::reserve", "libstdc++.so.6", "", MT_NATIVE_CODE},
};

static void test_kind(void **state)
{
    const struct kind *k = *state;
    assert_int_equal(mt_native_kind(k->name, k->object, k->file), k->kind);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_name, names);
    ROWS_ADD(&t, test_kind, kinds);
    return ROWS_RUN(&t, "native_frames");
}
