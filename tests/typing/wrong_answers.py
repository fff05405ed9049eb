"""Each hook here answers what its wave may not: a type checker must say so at every line marked ``# wrong``."""

from matrixx_core import Allow, Block, Inject, ToolCall, around, guard, observe, rewrite


@observe  # wrong
def looks_and_blocks(call: ToolCall) -> Block | None:
    return None


@guard  # wrong
def judges_and_changes(call: ToolCall) -> ToolCall | None:
    return call


@observe  # wrong
async def looks_and_injects(call: ToolCall) -> Inject | None:
    return None


@around  # wrong
def wraps_without_yield(call: ToolCall) -> None:
    return None


@rewrite  # wrong
def changes_to_text(call: ToolCall) -> str:
    return ""


@guard(tools={"write"})  # wrong
def judges_narrowly_and_changes(call: ToolCall) -> ToolCall | None:
    return call


@guard(tool={"write"})  # wrong
def misspells_its_narrowing(call: ToolCall) -> Block | None:
    return None


@guard
async def judges(call: ToolCall) -> Block | Allow | None:
    return None


@rewrite(but={"read"}, spec="tool_execute_before")
def changes(call: ToolCall) -> ToolCall | Inject | None:
    return call
