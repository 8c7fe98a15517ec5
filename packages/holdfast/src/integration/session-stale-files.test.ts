import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'

let workdir = ''
let file = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-stale-'))
  file = join(workdir, 'a.ts')
  writeFileSync(file, 'one\ntwo\nthree\n')
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

/** Reads the file, lets somebody change its last line, and sends one call. Returns its result and the file. */
async function callAfterChange(prompt: string) {
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0' }
  await using holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  await session.prompt('read a.ts').text()
  writeFileSync(file, 'one\ntwo\nmine\n')
  await session.prompt(prompt).text()
  const calls = (await session.messages()).flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))
  const { status, result } = calls.at(-1) ?? {}
  return { status, text: result?.text ?? '', content: readFileSync(file, 'utf8') }
}

const note = '[the file changed since you read it; the edit still fits]'

describe('a file that changed since the model read it', () => {
  it.each([
    ['edit_file', 'edit a.ts: two => 2'],
    ['multi_edit_file', 'edits a.ts: two => 2'],
    ['apply_diff', 'patch a.ts: two => 2'],
  ])('is edited by %s if the edit still fits, and the model is told', async (_, prompt) => {
    const { status, text, content } = await callAfterChange(prompt)
    expect([status, content]).toEqual(['complete', 'one\n2\nmine\n'])
    expect(text.split('\n')).toContain(note)
  })

  it('is not edited where it changed', async () => {
    const { status, text, content } = await callAfterChange('edit a.ts: three => 3')
    expect([status, content]).toEqual(['error', 'one\ntwo\nmine\n'])
    expect(text).toMatch(/^no_match: /)
  })

  it('is not written whole', async () => {
    const { status, text, content } = await callAfterChange('write a.ts: new')
    expect([status, content]).toEqual(['error', 'one\ntwo\nmine\n'])
    expect(text).toMatch(/^content_changed: a\.ts changed since it was read\. Read it again; nothing was written\./)
  })
})
