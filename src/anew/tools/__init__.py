"""What a task can call: one module or package per kind, each knowing nothing of the others."""
