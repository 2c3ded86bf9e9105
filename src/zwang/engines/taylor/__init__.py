"""The Taylor engine, by heyoka."""
