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
const refusalOf = (name: string) => checkName({ home: findHome(environment()), store: undefined }, name)

describe('a name that no session can have', () => {
  it.each([
    ['@lates', "'@lates' names no session. Did you mean '@latest'?"],
    ['latest', "'latest' names no session. Did you mean '@latest'?"],
    ['nonesuch', /^'nonesuch' names no session\. A session is named by .* or @latest; holdfast ls lists them\.$/],
    ['../../etc/passwd', /^'\.\.\/\.\.\/etc\/passwd' names no session\. A session is named by /],
    ['a\u001b[2J\nb', /^'a\\u\{1b\}\[2J\\nb' names no session\. /],
    ['x'.repeat(5000), /^'x{100}' names no session\. /],
  ])('%j is told back, with the right one', (name, message) => {
    expect(refusalOf(name)).toMatchObject({
      ok: false,
      fault: { code: 'bad_id', message: typeof message === 'string' ? message : expect.stringMatching(message) },
    })
  })

  it('is told the handle it is nearest to', async () => {
    const holdfast = await openHoldfast({ environment: environment() })
    const session = await holdfast.startSession({ workdir: base })
    await session.sendPrompt('plan')
    const [meta] = (await holdfast.list()).sessions
    await holdfast.close()
    const handle = meta?.handle ?? ''
    expect(refusalOf(handle)).toMatchObject({ ok: true })
    expect(refusalOf(handle.replace('-', '_'))).toMatchObject({
      fault: { message: `'${handle.replace('-', '_')}' names no session. Did you mean '${handle}'?` },
    })
  })
})
