import gc
import weakref

from matrixx_builtin.services.offered import note, offered
from matrixx_core.testing import RecordingClient


def test_what_is_noted_of_one_host_is_not_known_of_another() -> None:
    one, other = RecordingClient(), RecordingClient()
    note(one, "ctx_search")
    note(one, "ctx_search")
    assert offered(one) == {"ctx_search"}
    assert offered(other) == frozenset()


def test_a_host_that_is_gone_is_not_held() -> None:
    client = RecordingClient()
    note(client, "x")
    gone = weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None
