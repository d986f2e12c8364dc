"""Guard recorded sessions, ours or foreign, and write them in the forms that other trainers read."""
