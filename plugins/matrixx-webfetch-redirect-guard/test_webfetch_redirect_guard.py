import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import anyio
import matrixx_webfetch_redirect_guard as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixx_webfetch_redirect_guard import hops
from matrixx_webfetch_redirect_guard.addresses import RefusedError, parsed, private

from matrixx_core.testing import SESSION, Rig, call, session

LOCAL = "127.0.0.1"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "192.0.0.192",
        "168.63.129.16", "224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.1", "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
        "2001:0:7f00:1::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_what_is_not_public_is_known_in_every_form(address: str) -> None:
    assert private(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"])
def test_what_is_public_is_known_too(address: str) -> None:
    assert not private(ip_address(address))


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://Example.org", "http://example.org/"),
        ("HTTPS://example.org:443/a?b#c", "https://example.org/a?b#c"),
        ("http://example.org:8080?x", "http://example.org:8080/?x"),
        ("https://example.org/ä b%20c", "https://example.org/%C3%A4%20b%20c"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f.1", "http://127.0.0.1/"),
        ("http://0177.0.0.1", "http://127.0.0.1/"),
        ("http://127.1.", "http://127.0.0.1/"),
        ("http://0/", "http://0.0.0.0/"),
        ("http://0x/", "http://0.0.0.0/"),
        ("http://\uff11\uff12\uff17.0.0.1/", "http://127.0.0.1/"),
        ("http://[::FFFF:7f00:1]/", "http://[::ffff:7f00:1]/"),
        ("http://example.org\\@127.0.0.1/", "http://example.org/%5C@127.0.0.1/"),
        ("http://1e100.net/", "http://1e100.net/"),
    ],
)
def test_a_url_is_read_as_browsers_read_it(url: str, wanted: str) -> None:
    assert parsed(url).url == wanted.replace("[::ffff:7f00:1]", f"[{ip_address('::ffff:7f00:1')}]")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.org/", "gopher://x/", "data:text/html,x", "javascript:1", "example.org", "//example.org/", "http:127.0.0.1",
        "http://", "http:///127.0.0.1/", "http://user:word@example.org/", "http://example.org@127.0.0.1/", "http://%31%32%37.0.0.1/",
        "http://exam\nple.org/", "http://exa mple.org", "http://ex\0ample.org/", " http://example.org/", "http://example.org:99999/", "http://example.org:0/",
        "http://example.org:1x/", "http://[::1/", "http://[fe80::1%25eth0]/", "http://256.256.256.256/", "http://1.2.3.4.5/", "http://a.b.1/",
        "http://09.1/", "http://4294967296/", "http://\ud800/", "http://" + "a" * 9_000, "http://ä..ö/",
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(RefusedError):
        parsed(url)


@given(st.text(max_size=60) | st.text(st.sampled_from("htp:/[]@%\\.0127xaf#?: \n"), max_size=40).map(lambda text: f"http://{text}"))
def test_no_url_is_an_error_and_what_is_read_once_is_read_the_same_again(url: str) -> None:
    try:
        once = parsed(url)
    except RefusedError:
        return
    assert parsed(once.url) == once


FORWARD: Mapping[str, tuple[int, str]] = {
    "/302": (302, "/end?a=b#c"),
    "/301": (301, "/302"),
    "/relative": (308, "end"),
    "/no-location": (302, ""),
    "/300": (300, "/end"),
    "/loop": (302, "/loop"),
    "/to-name": (307, "http://evil.test:{port}/end"),
    "/to-metadata": (302, "http://169.254.169.254/latest/meta-data/"),
    "/to-mapped": (302, "http://[::ffff:169.254.169.254]/"),
    "/to-number": (302, "http://2852039166/"),
    "/to-file": (303, "file:///etc/passwd"),
    "/to-slashes": (302, "\\\\169.254.169.254\\"),
    "/to-user": (302, "http://a@b/"),
    **{f"/count/{number}": (302, f"/count/{number - 1}") for number in range(1, 12)},
}


class Handler(BaseHTTPRequestHandler):
    seen: list[tuple[str, dict[str, str]]]
    release: threading.Event

    def log_message(self, *args: Any) -> None: ...

    def do_GET(self) -> None:
        self.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        if self.path == "/slow":
            self.release.wait(10)
        if self.path == "/nonsense":
            self.wfile.write(b"SSH-2.0-x\r\n")
            return
        status, location = FORWARD.get(self.path, (200, ""))
        self.send_response(status)
        if location:
            self.send_header("location", location.replace("{port}", str(self.server.server_address[1])))
        self.end_headers()
        self.wfile.write(b"page" * 100)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    handler = type("Bound", (Handler,), {"seen": [], "release": threading.Event()})
    one = ThreadingHTTPServer((LOCAL, 0), handler)
    thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield one
    handler.release.set()
    one.shutdown()
    thread.join()
    one.server_close()


Fetch: Any = Callable[..., Any]


@pytest.fixture
def fetch(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    """Fetch a path of a server that counts as public; ``evil.test`` is the same one, and does not."""

    async def lookup(host: str, port: int, **_: Any) -> list[Any]:
        if host == "nowhere.test":
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", (LOCAL if host.endswith(".test") else host, port))]

    monkeypatch.setattr(hops.anyio, "getaddrinfo", lookup)

    def run(url: str, *, config: Mapping[str, Any] | None = None, **args: Any) -> Any:
        settings = {"enabled": True, "allowed_hosts": ["good.test"], **(config or {})}
        given = f"http://good.test:{server.server_address[1]}{url}" if url.startswith("/") else url
        return Rig(hook, settings={"webfetch-redirect-guard": settings}).before("webfetch", url=given, **args)

    return run


def path(outcome: Any) -> str:
    return str(outcome.event.args["url"]).partition(".test:")[2].lstrip("0123456789")


@pytest.mark.parametrize(
    ("url", "end"),
    [
        ("/302", "/end?a=b#c"),
        ("/301", "/end?a=b#c"),
        ("/relative", "/end"),
        ("/count/10", "/count/0"),
        ("/plain?a=ü", "/plain?a=ü"),
        ("/no-location", "/no-location"),
        ("/300", "/300"),
    ],
)
def test_the_call_gets_the_address_where_its_redirects_end(fetch: Fetch, url: str, end: str) -> None:
    outcome = fetch(url, format="text")
    assert not outcome.block and path(outcome) == end
    assert outcome.event.args["format"] == "text"


def test_each_server_is_asked_once_as_the_host_will_ask_it(fetch: Fetch, server: ThreadingHTTPServer) -> None:
    fetch("/302", format="html")
    seen = server.RequestHandlerClass.seen  # type: ignore[attr-defined]
    assert [path for path, _ in seen] == ["/302", "/end?a=b"]
    assert seen[0][1]["accept"] == hops.ACCEPT["html"] and seen[0][1]["accept-language"].startswith("en-US")
    assert seen[0][1]["host"].startswith("good.test:")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("/loop", "redirects more than 10 times"),
        ("/count/11", "redirects more than 10 times"),
        ("/to-name", "'evil.test' has an address that is not on the public internet"),
        ("/to-metadata", "http://169.254.169.254 is not on the public internet"),
        ("/to-mapped", "is not on the public internet"),
        ("/to-number", "http://169.254.169.254 is not on the public internet"),
        ("/to-slashes", "http://169.254.169.254 is not on the public internet"),
        ("/to-file", "only http:// and https://"),
        ("/to-user", "cannot be read without doubt"),
        ("/nonsense", "could not be checked (RemoteProtocolError"),
        ("http://nowhere.test/", "could not be checked (gaierror: [Errno -2] Name or service not known)"),
        ("http://localhost.test/", "not on the public internet"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1 is not on the public internet"),
        ("http://[::1]/", "http://[::1] is not on the public internet"),
        ("file:///etc/passwd", "only http:// and https://"),
    ],
)
def test_what_leads_elsewhere_or_cannot_be_checked_is_refused_and_said_why(fetch: Fetch, url: str, why: str) -> None:
    outcome = fetch(url)
    assert outcome.block is not None
    assert why in outcome.refusal and "webfetch-redirect-guard" in outcome.refusal


def test_no_private_host_is_ever_connected_to(fetch: Fetch, server: ThreadingHTTPServer) -> None:
    fetch(f"http://evil.test:{server.server_address[1]}/")
    assert server.RequestHandlerClass.seen == []  # type: ignore[attr-defined]


def test_one_private_address_among_several_is_enough(fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lookup(host: str, port: int, **_: Any) -> list[Any]:
        return [(0, 0, 0, "", ("93.184.215.14", port)), (0, 0, 0, "", ("fe80::1%eth0", port, 0, 2))]

    monkeypatch.setattr(hops.anyio, "getaddrinfo", lookup)
    assert "'two.test' has an address" in fetch("http://two.test/").refusal


@pytest.mark.parametrize(("config", "args"), [({"timeout": 0.05}, {}), ({}, {"timeout": 0.05}), ({"timeout": 0.05}, {"timeout": "9"})])
def test_a_server_that_lets_wait_is_refused(fetch: Fetch, config: dict[str, Any], args: dict[str, Any]) -> None:
    assert "could not be checked within" in fetch("/slow", config=config, **args).refusal


def test_a_redirect_must_not_drop_encryption() -> None:
    with pytest.raises(RefusedError, match="not encrypted"):
        hops.followed(parsed("https://8.8.8.8/"), "http://8.8.8.8/", ())
    assert hops.followed(parsed("http://8.8.8.8/"), "https://8.8.4.4:8443/a", ()).url == "https://8.8.4.4:8443/a"


def test_the_refusal_repeats_nothing_secret_of_the_address(fetch: Fetch) -> None:
    refusal = fetch("http://10.0.0.1/?token=5ecret").refusal
    assert "http://10.0.0.1 is not fetched" in refusal and "5ecret" not in refusal


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("http://8.8.8.8/", False), ("http://name.example/", False), ("http://10.0.0.1/", True), ("http://localhost/", True), ("http://a.internal/", True),
        ("http://printer/", True), ("http://good.test/", False), ("https://u@h/", True),
    ],
)  # fmt: skip
def test_behind_a_proxy_the_address_itself_is_looked_at_and_nothing_connected_to(
    url: str, refused: bool, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.test:1")
    monkeypatch.setenv("https_proxy", "http://proxy.test:1")
    monkeypatch.setattr(hops, "destination", lambda *_: pytest.fail("connected"))
    assert (fetch(url).block is not None) is refused


@pytest.mark.parametrize("args", [{}, {"url": None}, {"url": ""}, {"url": ["http://10.0.0.1/"]}])
def test_a_call_without_an_address_is_the_hosts_to_refuse(args: dict[str, Any]) -> None:
    assert not Rig(hook, settings={"webfetch-redirect-guard": {"enabled": True}}).before("webfetch", **args).block


@pytest.mark.parametrize("timeout", [None, True, -1, 0, "x", float("nan"), 10**9])
def test_an_odd_limit_of_the_call_is_none(timeout: Any) -> None:
    assert hook._seconds(timeout, 4.0) == 4.0


def test_without_its_setting_no_network_is_touched(fetch: Fetch) -> None:
    assert not fetch("http://10.0.0.1/", config={"enabled": False}).block


def test_the_end_of_one_call_is_not_used_for_another_of_the_same_id() -> None:
    rig = Rig(hook, settings={"webfetch-redirect-guard": {"enabled": True}})
    ends = rig.host.sessions[SESSION].state(hook.Ends).by_call
    ends["call_test"] = "http://8.8.8.8/"
    assert rig.before("webfetch", url="http://10.0.0.1/").block
    assert ends == {}


def test_only_so_many_ends_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def destination(*_: Any) -> str:
        return "http://8.8.8.8/end"

    monkeypatch.setattr(hops, "destination", destination)
    open_session = session()
    for number in range(hook.REMEMBERED + 5):
        fetched = call("webfetch", url="http://8.8.8.8/").model_copy(update={"call_id": str(number)})
        assert anyio.run(hook.tool_execute_before, fetched, open_session, hook.Config(enabled=True)) is None
    assert list(open_session.state(hook.Ends).by_call) == [str(number) for number in range(5, hook.REMEMBERED + 5)]
