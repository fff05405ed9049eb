"""Names of the two seeds that settings may still hold (entry-point group ``matrixx.names``).

From spec config-and-dispatch 2.4 and tool-hooks 0.5: nobody's file is rewritten, old names are understood in memory.
"""

RENAMED = {
    "anthropic-auto-compact": "context-window-limit-recovery",
    "anthropic-context-window-limit-recovery": "context-window-limit-recovery",
    "sisyphus-orchestrator": "architect",
    "sisyphus-junior-notepad": "mouse-notepad",
    "prometheus-md-only": "oracle-md-only",
    "sisyphus-loop": "matrix-loop",
    "ralph-loop": "matrix-loop",
    "todo-continuation-enforcer": "task-continuation-enforcer",
    "task-notepad": "task-notepad-writer",
}

RETIRED = {
    "empty-message-sanitizer": "the hosts accept empty messages now",
    "failure-counter": "it never had a call site",
    "hashline-edit-diff-enhancer": "it never had a call site",
    "question-label-truncator": "it named a tool that OpenCode does not have",
    "directory-readme-injector": "directory-agents-injector does its work",
    "todo-description-override": "the host's own description is better",
    "grep-output-truncator": "tool-output-truncator does its work",
    "tasks-todowrite-disabler": "tool settings of the host do its work",
}
"""Accepted in ``disabled_hooks`` without a word; each with why it is gone."""

SECTIONS = frozenset({
    "agents", "assembly", "auto_update", "babysitting", "background_task", "categories", "comment_checker", "commands",
    "context_mode", "dcp", "default_tier", "disabled_agents", "disabled_commands", "disabled_mcps", "disabled_skills",
    "disabled_tools", "evolution", "knowledge", "matrix_loop", "mcps", "morpheus", "morpheus_agent", "notification", "plans",
    "rtk", "runtime_fallback", "security", "skills", "task", "tasks", "tmux",
})  # fmt: skip
"""Sections of the seeds: read by the hooks they belong to, silent where that hook is not installed."""

KEYS = {
    "experimental": (
        "aggressive_truncation", "auto_resume", "context_warning_threshold", "hashline_edit", "new_task_system_enabled",
        "plugin_load_timeout_ms", "preemptive_compaction", "preemptive_compaction_threshold", "safe_hook_creation", "task_system",
        "truncate_all_tool_outputs",
    ),
}  # fmt: skip
"""Keys of the seeds in sections that several hooks share: silent, too, where their hook is not installed."""

PROFILES = {
    "minimal-write": ("mouse-notepad", "architect", "quality-gate", "comment-checker", "preemptive-compaction"),
    "nuclear-debug": (
        "secret-leak-guard", "oracle-md-only", "mouse-notepad", "architect", "quality-gate", "comment-checker",
        "preemptive-compaction", "context-mode-enforcer", "task-edit-guard", "task-continuation-enforcer", "rules-injector",
        "directory-agents-injector",
    ),
}  # fmt: skip
"""The seed's two profiles (section 3.3); the first keeps the guards, which the seed's own text asks for."""
