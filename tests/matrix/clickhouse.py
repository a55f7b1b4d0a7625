"""Debian's ClickHouse as a cluster of two shards on loopback, for tests: nothing outside a temporary folder."""
import os
import shutil
import socket
import subprocess
import time

PROGRAM = shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
CLIENT = shutil.which("clickhouse-client")

CONFIG = """<yandex>
<logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog></logger>
<http_port>{2}</http_port><tcp_port>{1}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><user_files_path>{0}/files/</user_files_path>
<format_schema_path>{0}/formats/</format_schema_path><users_config>{0}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size><timezone>UTC</timezone>
<remote_servers><memtool>{3}</memtool></remote_servers>
</yandex>
"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
USERS = """<yandex>
<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas>
</yandex>
"""


def free_ports(n):
    """Ports that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """Two servers, each a shard of the cluster `memtool`; a with-statement ends them."""

    def __init__(self, folder, shards=2):
        ports = free_ports(2 * shards)
        self.tcp, self.http = ports[:shards], ports[shards:]
        self.folders = [os.path.join(folder, f"shard{i}") for i in range(shards)]
        self.servers = [None] * shards
        every = "".join(SHARD.format(p) for p in self.tcp)
        for path, tcp, http in zip(self.folders, self.tcp, self.http):
            for part in ("data", "tmp", "files", "formats"):
                os.makedirs(os.path.join(path, part))
            for name, text in (("config.xml", CONFIG.format(path, tcp, http, every)), ("users.xml", USERS)):
                with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                    file.write(text)

    def __enter__(self):
        for i in range(len(self.servers)):
            self.start(i)
        return self

    def __exit__(self, *_):
        for i in range(len(self.servers)):
            self.kill(i)

    def start(self, i):
        path = self.folders[i]
        with open(os.path.join(path, "out"), "ab") as out:
            # Ended by kill(), or with this program.
            self.servers[i] = subprocess.Popen(  # pylint: disable=consider-using-with
                [PROGRAM, "--config-file", os.path.join(path, "config.xml")], cwd=path, stdout=out, stderr=out)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self.servers[i].poll() is not None:
                break
            if self.client("SELECT 1", shard=i, check=False).returncode == 0:
                return
            time.sleep(0.1)
        with open(os.path.join(path, "out"), encoding="utf-8", errors="replace") as out:
            raise RuntimeError(f"clickhouse-server did not start: {out.read()[-2000:]}")

    def kill(self, i):
        """As a machine that is switched off."""
        if self.servers[i]:
            self.servers[i].kill()
            self.servers[i].wait()
            self.servers[i] = None

    def client(self, sql=None, shard=0, data=None, check=True, options=()):
        """clickhouse-client with a statement, or one that comes with its data (a file, or bytes)."""
        command = [CLIENT, "--host", "127.0.0.1", "--port", str(self.tcp[shard]), *options]
        if sql:
            command += ["--query", sql]
        given = {"stdin": data} if hasattr(data, "fileno") else {"input": data or b""}
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              **given) if not check else self.checked(command, given)

    @staticmethod
    def checked(command, given):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **given)
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace")[-3000:])
        return done

    def ask(self, sql):
        """The rows of a statement, as text."""
        return self.client(sql).stdout.decode()
