import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { followPage } from '../../testing/documents/followed-page.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

for (const page of ['docs/first-hour-auditor.md', 'docs/first-hour-operator.md']) {
  test(`${page} is followed literally, and prints what it shows`, async (t) => {
    t.timeout(600_000);
    t.deepEqual(await followPage(page, await temporaryFolder(t)), []);
  });
}

test('a page whose output is not what is printed is reported', async (t) => {
  const folder = await temporaryFolder(t);
  const page = path.join(folder, 'page.md');
  const block = (output: string) => `\`\`\`sh\necho one; echo two\n\`\`\`\n\n\`\`\`text\n${output}\n\`\`\`\n`;
  for (const [output, differences] of [
    ['one\ntwo', 0],
    ['…\ntwo', 0],
    ['o…\ntwo', 0],
    ['one', 1],
    ['one\nthree', 1],
  ] as const) {
    await writeFile(page, block(output));
    t.is((await followPage(page, folder)).length, differences, output);
  }
});
