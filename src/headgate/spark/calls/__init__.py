"""What every call of a user shares: arguments taken as meant, and errors told in the words of Headgate."""
