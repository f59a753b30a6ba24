"""Messages and recorded conversations.

In: JSON Lines, or a live connection. Out: findings of the strict validators and of the monitor, and recordings, redacted on request.
"""
