import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unifiedDiff } from '../tools/edits/unified-diff.ts'
import { createOffer } from './offer.ts'
import { createTrustedWorkspaces, type TrustedWorkspaces } from './trusted-workspaces.ts'

let directory: string
let trust: TrustedWorkspaces
const workspace = '/srv/repo'
const hook = createOffer({ kind: 'hook', name: 'PreToolUse 1', path: '.claude/settings.json', text: 'sh check.sh' })
const server = createOffer({ kind: 'server', name: 'files', path: '.mcp.json', text: 'npx files' })
const verdicts = async (...offers: (typeof hook)[]) =>
  orThrow(await trust.judge(workspace, offers)).map(({ verdict }) => verdict)

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'holdfast-trust-')), 'trust')
  trust = createTrustedWorkspaces(directory, unifiedDiff)
})
afterEach(() => rm(join(directory, '..'), { recursive: true }))

describe('what a workspace offers', () => {
  it('is new until a person trusts it, item by item', async () => {
    expect(await verdicts(hook, server)).toEqual(['new', 'new'])
    orThrow(await trust.grant(workspace, [hook]))
    expect(await verdicts(hook, server)).toEqual(['trusted', 'new'])
    orThrow(await trust.grant(workspace, [server]))
    expect(await verdicts(hook, server)).toEqual(['trusted', 'trusted'])
    expect(orThrow(await trust.judge('/srv/other', [hook])).map(({ verdict }) => verdict)).toEqual(['new'])
  })

  it('is changed by one byte of it, and says what was trusted', async () => {
    orThrow(await trust.grant(workspace, [hook]))
    const changed = createOffer({ ...hook, text: 'sh check.sh ' })
    expect(orThrow(await trust.judge(workspace, [changed]))).toMatchObject([
      { verdict: 'changed', before: 'sh check.sh', diff: expect.stringContaining('-sh check.sh\n') },
    ])
    orThrow(await trust.grant(workspace, [changed]))
    expect(await verdicts(changed)).toEqual(['trusted'])
    expect(await verdicts(hook)).toEqual(['changed'])
  })

  it('is changed by one byte of a file that it runs', async () => {
    const withScript = (text: string) => createOffer({ ...hook, files: new Map([['check.sh', Buffer.from(text)]]) })
    orThrow(await trust.grant(workspace, [withScript('exit 0')]))
    expect(await verdicts(withScript('exit 0'))).toEqual(['trusted'])
    expect(await verdicts(withScript('exit 1'))).toEqual(['changed'])
  })

  it('is new again when trust is revoked', async () => {
    orThrow(await trust.grant(workspace, [hook]))
    expect(orThrow(await trust.revoke(workspace))).toBe(true)
    expect(await verdicts(hook)).toEqual(['new'])
    expect(orThrow(await trust.revoke(workspace))).toBe(false)
  })

  it('is seen at once by other processes when it is granted or revoked', async () => {
    const other = createTrustedWorkspaces(directory, unifiedDiff)
    orThrow(await other.grant(workspace, [hook]))
    expect(await verdicts(hook, server)).toEqual(['trusted', 'new'])
    orThrow(await other.grant(workspace, [server]))
    expect(await verdicts(hook, server)).toEqual(['trusted', 'trusted'])
    orThrow(await other.revoke(workspace))
    expect(await verdicts(hook, server)).toEqual(['new', 'new'])
  })

  it('is listed by workspace, and kept in files that only their owner reads', async () => {
    orThrow(await trust.grant('/b', [hook]))
    orThrow(await trust.grant('/a', [server]))
    expect(orThrow(await trust.list()).map((one) => [one.workspace, one.items.map(({ name }) => name)])).toEqual([
      ['/a', ['files']],
      ['/b', ['PreToolUse 1']],
    ])
    for (const name of await readdir(directory)) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600)
  })

  it('is not trusted by a file that cannot be read, which is not overwritten', async () => {
    orThrow(await trust.grant(workspace, [hook]))
    const [name = ''] = await readdir(directory)
    await writeFile(join(directory, name), '{"version":1')
    expect(await trust.judge(workspace, [hook])).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    expect(await trust.grant(workspace, [hook])).toMatchObject({ ok: false })
    expect(await trust.list()).toMatchObject({ ok: false, fault: { message: expect.stringContaining(name) } })
    expect(await readFile(join(directory, name), 'utf8')).toBe('{"version":1')
  })
})
