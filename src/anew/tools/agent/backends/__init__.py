"""The built-in ways to reach agents. Each module is imported when a task first asks for it."""
