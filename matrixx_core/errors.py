"""The errors an embedding program may meet; each message names the value at fault and the way out."""


class MatrixxError(Exception):
    """Base of everything that Matrixx raises on purpose."""


class SettingsError(MatrixxError):
    """A settings file cannot be read at all; the message holds its path and line."""


class HookError(MatrixxError):
    """A hook failed while ``strict`` was set; the message names the plugin, the event and the cause."""


class ClientError(MatrixxError):
    """The host refused a request of a hook, or did not answer within the deadline."""
