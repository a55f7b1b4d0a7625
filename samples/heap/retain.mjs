// What is alive when it ends: 3,000 arrays of 256 numbers (load), 2,000 strings in a map (put), 10 arrays of 4,096 numbers
// below a function that calls itself (walk), and arrays of two functions without a name. 200,000 more were dropped (churn).
//
//     node --heap-prof --heap-prof-interval=16384 --heap-prof-name=retain.heapprofile retain.mjs
globalThis.kept = [];
const cache = (globalThis.cache = new Map());

function record(n) {
  return new Array(n).fill(0.5);
}

function load(count) {
  for (let i = 0; i < count; i++) kept.push(record(256));
}

function churn(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += record(64).length;
  return sum;
}

class Store {
  put(key) {
    cache.set(key, Buffer.alloc(0).toString() + 'x'.repeat(200) + key);
  }
}

function walk(depth) {
  return depth === 0 ? record(4096) : walk(depth - 1);
}

load(3000);
churn(200000);
const store = new Store();
for (let i = 0; i < 2000; i++) store.put(i);
for (let i = 0; i < 10; i++) kept.push(walk(10));
[1, 2, 3].map((n) => kept.push(record(n * 5000)));
[1, 2, 3].forEach(function (n) {
  kept.push(record(n * 7000));
});
