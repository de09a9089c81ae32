/**
 * Removes the settings of a service from the environment of a test process, so that neither the test nor a command that
 * it starts inherits those of the shell. AVA loads this before each test file.
 */
for (const name of Object.keys(process.env)) if (name.startsWith('DEPOSIT_')) delete process.env[name];
