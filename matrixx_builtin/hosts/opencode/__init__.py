"""OpenCode: the adapter, the plugin file it installs, and the client for its API."""
