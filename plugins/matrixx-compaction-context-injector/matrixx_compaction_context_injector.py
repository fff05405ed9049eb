"""Ask a summary of the conversation to keep what the work cannot go on without."""

from matrixx_core import Inject, rewrite

SECTIONS = {
    "User requests": "every request of the user in their own words",
    "Goal": "what is to be true in the end",
    "Done": "what has been done, with the files that were made or changed",
    "Remaining": "what is still to be done, in order",
    "Working context": "files and code that the work is in the middle of, references that are needed, the state of things",
    "Explicit constraints": 'what the user has forbidden or demanded, VERBATIM; write "None" if there is nothing: never infer a constraint',
    "Verification": "which agent acts, what has been verified and how, what is still to be verified, what was rejected before and why",
    "Delegated sessions": "every agent that work was given to: its session id, what it was given, how far it is; resume it, do not start it anew",
}
"""What a summary must hold (spec session-hooks E1); background work tells of itself."""

DIRECTIVE = "\n".join(
    [
        "[compaction-context] Write the summary so that the work can go on from it alone. It must have these sections:",
        *(f"{number}. {name}: {what}." for number, (name, what) in enumerate(SECTIONS.items(), 1)),
    ]
)


@rewrite
def session_compacting() -> Inject:
    return Inject(DIRECTIVE, priority="high")
