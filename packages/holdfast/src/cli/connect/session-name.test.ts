import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { findHome } from '../../system/home.ts'
import { checkName } from './session-name.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-name-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const environment = () => ({ HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0' })
const check = (name: string) => checkName({ home: findHome(environment()), store: undefined }, name)

describe('a malformed session name', () => {
  it.each([
    ['@lates', "'@lates' is not a session name. Did you mean '@latest'?"],
    ['latest', "'latest' is not a session name. Did you mean '@latest'?"],
    ['none such', /^'none such' is not a session name\. Use an id .* or @latest\. holdfast ls lists the sessions\.$/],
    ['latst', "'latst' is not a session name. Did you mean '@latest'?"],
    ['../../etc/passwd', /^'\.\.\/\.\.\/etc\/passwd' is not a session name\. Use an id /],
    ['a\u001b[2J\nb', /^'a\\u\{1b\}\[2J\\nb' is not a session name\. /],
    ['x'.repeat(5000), /^'x{100}' is not a session name\. /],
  ])('%j is rejected with a hint', (name, message) => {
    expect(check(name)).toMatchObject({
      ok: false,
      fault: { code: 'bad_id', message: typeof message === 'string' ? message : expect.stringMatching(message) },
    })
  })

  it('is rejected with the most similar handle', async () => {
    const holdfast = await openHoldfast({ environment: environment() })
    const session = await holdfast.startSession({ workdir: base })
    await session.sendPrompt('plan')
    const [meta] = (await holdfast.list()).sessions
    await holdfast.close()
    const handle = meta?.handle ?? ''
    expect(check(handle)).toMatchObject({ ok: true })
    expect(check(handle.replace('-', '+'))).toMatchObject({
      fault: { message: `'${handle.replace('-', '+')}' is not a session name. Did you mean '${handle}'?` },
    })
  })
})
