import { readFileSync, writeSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { fillGaps } from './promised-output.ts'
import { canRun, runShell } from './run-shell.ts'

const guide = readFileSync(new URL('../../docs/http-guide.md', import.meta.url), 'utf8')
const blocks = [...guide.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}))
const token = 'a-secret-of-the-test-for-the-guide'
const hasCurl = canRun('curl') && canRun('bash')
// Written directly, because a test runner may hide output, and a skipped test must not look like a passed one.
if (!hasCurl) writeSync(2, '\nNOT RUN: the commands of docs/http-guide.md: they need bash and curl.\n')

it.skipIf(!hasCurl)('the commands of docs/http-guide.md do what it says, in its order', async () => {
  using cli = createCli()
  const server = cli.start(['serve', '--port', '0'], { environment: { HOLDFAST_TOKEN: token } })
  const [url = ''] = await server.until('stderr', /http:\S+/)
  const steps = blocks.flatMap(({ language, text }, index) =>
    language === 'sh' ? { text, promised: blocks[index + 1] } : [],
  )
  expect(steps.length).toBeGreaterThan(8)
  // One shell runs all blocks, so that a function and variables live on; a mark ends the output of each.
  const mark = '--- end of a block ---'
  const script = steps.map(({ text }) => `${text}\necho '${mark}'\n`).join('')
  const outputs = (await runShell(script, cli.workdir, { URL: url, TOKEN: token })).out.split(mark)
  for (const [index, { text, promised }] of steps.entries()) {
    const printed = outputs[index]?.trim() ?? ''
    if (promised?.language === 'json')
      expect(JSON.parse(printed), text).toMatchObject(fillGaps(JSON.parse(promised.text)))
    else if (promised?.language === '') expect(printed, text).toMatch(fillGaps(promised.text.trim()))
  }
})
