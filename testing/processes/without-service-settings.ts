/**
 * Removes the settings of a service from the environment of a test process, so that neither the test nor a command that
 * it starts inherits those of the shell. AVA loads this before each test file. `DEPOSIT_CHROMIUM`, which is for tests
 * alone, gets a name that no service reads as a setting.
 */
const { DEPOSIT_CHROMIUM: chromium } = process.env;
if (chromium !== undefined) process.env['CHROMIUM_BIN'] = chromium;
for (const name of Object.keys(process.env)) if (name.startsWith('DEPOSIT_')) delete process.env[name];
