import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HookMoment } from '@holdfast/core/ports'
import { CallId, orThrow, SessionId } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { notAborted } from '../../../testkit/src/contracts/tool.ts'
import { HooksConfig } from '../system/config/hooks-config.ts'
import { unifiedDiff } from '../tools/edits/unified-diff.ts'
import { createTrustedWorkspaces } from '../trust/trusted-workspaces.ts'
import { declaredHooks, findBadMatcher } from './hook-config.ts'
import { createHooks, type RuntimeHooks } from './hooks.ts'
import { findHooksFault, type OwnHooks, readOwnHooks } from './own-hooks.ts'
import { findHookOffers } from './workspace-hooks.ts'

let root: string
let workdir: string
const session = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvw')
const call = (tool: string, args: Record<string, unknown>): HookMoment => ({
  event: 'PreToolUse',
  call: CallId.parse(7),
  tool,
  args,
})

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-hooks-')))
  workdir = join(root, 'repo')
  await mkdir(workdir)
})
afterEach(() => rm(root, { recursive: true, force: true }))

const write = async (path: string, text: string) => {
  await mkdir(dirname(join(workdir, path)), { recursive: true })
  await writeFile(join(workdir, path), text)
}
const settings = (hooks: object, path = '.claude/settings.json') => write(path, JSON.stringify({ hooks }))
const command = (text: string, more: object = {}) => ({ hooks: [{ type: 'command', command: text, ...more }] })

function open({ user = {}, own = {} }: { user?: object; own?: OwnHooks } = {}): RuntimeHooks {
  return createHooks({
    own: readOwnHooks(own),
    user: declaredHooks(HooksConfig.parse(user)),
    trusted: trusted(),
    userDir: root,
    environment: { PATH: process.env['PATH'] ?? '' },
  })
}
const trusted = () => createTrustedWorkspaces(join(root, 'trust'), unifiedDiff)
const trustAll = async () =>
  orThrow(await trusted().grant(workdir, await findHookOffers({ workdir, workspace: workdir })))
const run = (hooks: RuntimeHooks, moment: HookMoment) =>
  hooks.run(moment, { session, workdir, mode: 'exec', approvals: undefined }, notAborted)

describe('the hooks of the configuration', () => {
  it('get JSON on standard input and veto by exit code 2', async () => {
    const hooks = open({
      user: { PreToolUse: [{ matcher: 'shell', ...command('cat > got.json; echo no >&2; exit 2') }] },
    })
    expect(hooks.has('PreToolUse', workdir)).toBe(true)
    expect(hooks.has('Stop', workdir)).toBe(false)
    expect(await run(hooks, call('read_file', { path: 'a' }))).toBeNull()
    const ran = await run(hooks, call('shell', { command: 'ls' }))
    expect(ran).toMatchObject({
      answer: { block: 'no' },
      runs: [{ event: 'PreToolUse', source: 'user', outcome: 'blocked', reason: 'no', printed: 'no' }],
    })
    expect(JSON.parse(await readFile(join(workdir, 'got.json'), 'utf8'))).toEqual({
      hook_event_name: 'PreToolUse',
      session_id: session,
      transcript_path: null,
      cwd: workdir,
      permission_mode: 'default',
      tool_name: 'shell',
      tool_input: { command: 'ls' },
      tool_use_id: 'c7',
    })
  })

  it('get what those before them have changed, and the first veto is the last to run', async () => {
    const change = `cat > /dev/null; echo '{"hookSpecificOutput":{"updatedInput":{"command":"changed"}}}'`
    const hooks = open({
      user: { PreToolUse: [command(change), command('cat > seen.json'), command('exit 2'), command('touch never')] },
    })
    const ran = await run(hooks, call('shell', { command: 'ls' }))
    expect(ran?.answer).toMatchObject({ args: { value: { command: 'changed' } }, block: expect.any(String) })
    expect(ran?.runs).toHaveLength(3)
    expect(await readFile(join(workdir, 'seen.json'), 'utf8')).toContain('"tool_input":{"command":"changed"}')
  })

  it('that fail refuse, unless they are set to continue', async () => {
    const hooks = open({ user: { PreToolUse: [command('echo boom >&2; exit 1')] } })
    expect((await run(hooks, call('shell', {})))?.answer.block).toMatch(/could not decide.*exit code 1: boom/)
    const lenient = open({ user: { PreToolUse: [command('exit 1', { onFailure: 'continue' })] } })
    expect(await run(lenient, call('shell', {}))).toMatchObject({
      answer: { block: null },
      runs: [{ outcome: 'failed' }],
    })
  })

  it('need a matcher that can be used', () => {
    const config = HooksConfig.parse({
      PreToolUse: [
        { matcher: '(?=x)', hooks: [] },
        { matcher: '(', ...command('x') },
      ],
    })
    expect(findBadMatcher(config)).toBe('(')
  })
})

describe('the hooks of a workspace', () => {
  const touched = () => readFile(join(workdir, 'ran'), 'utf8').catch(() => null)

  it('do not run before a person trusts them, and one changed byte turns them off', async () => {
    await settings({ PreToolUse: [command('sh check.sh')] })
    await write('check.sh', 'cat > /dev/null; touch ran')
    const hooks = open()
    await hooks.refresh(workdir)
    expect(hooks.has('PreToolUse', workdir)).toBe(false)
    expect(await hooks.list(workdir)).toMatchObject([{ state: 'waiting', path: '.claude/settings.json' }])
    await trustAll()
    await hooks.refresh(workdir)
    expect(await run(hooks, call('shell', {}))).toMatchObject({ answer: { block: null } })
    expect(await touched()).toBe('')
    await rm(join(workdir, 'ran'))
    await write('check.sh', 'cat > /dev/null; touch ran ')
    // In a turn that began before the change, the guard is not gone: it refuses.
    expect((await run(hooks, call('shell', {})))?.answer.block).toContain('changed since it was trusted')
    await hooks.refresh(workdir)
    expect(hooks.has('PreToolUse', workdir)).toBe(false)
    expect(await hooks.list(workdir)).toMatchObject([{ state: 'changed' }])
    expect(await touched()).toBeNull()
  })

  it.each([
    ['npm run check', 'package.json'],
    ['cat | node tools/check', 'tools/check.js'],
    ['make check', 'Makefile'],
  ])('run %s: a change of %s, which says what that runs, is asked about again', async (text, path) => {
    await settings({ PreToolUse: [command(text)] })
    await mkdir(join(workdir, 'tools'), { recursive: true })
    await write(path, 'the first text')
    const [before] = await findHookOffers({ workdir, workspace: workdir })
    expect(before?.text).toContain('the first text')
    await write(path, 'the other text')
    expect((await findHookOffers({ workdir, workspace: workdir }))[0]?.hash).not.toBe(before?.hash)
  })

  const braces = ['$', '{CLAUDE_PROJECT_DIR}'].join('') // no template
  it.each(['$CLAUDE_PROJECT_DIR/check.sh', `"${braces}"/check.sh`, './check.sh', 'sh -c "./check.sh"'])(
    'show the script that %s runs, which is part of what is trusted',
    async (text) => {
      await settings({ PreToolUse: [command(text)] })
      await write('check.sh', '#!/bin/sh\ncat > /dev/null; touch ran')
      await chmod(join(workdir, 'check.sh'), 0o755)
      const [before] = await findHookOffers({ workdir, workspace: workdir })
      expect(before?.text).toContain('touch ran')
      await trustAll()
      const hooks = open()
      await hooks.refresh(workdir)
      await run(hooks, call('shell', {}))
      expect(await touched()).toBe('')
      await write('check.sh', 'exit 0')
      expect((await findHookOffers({ workdir, workspace: workdir }))[0]?.hash).not.toBe(before?.hash)
    },
  )

  it('of .claude get the names and fields they expect, and their changes are mapped back', async () => {
    const change = `cat > got.json; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"'$PWD'/a.txt","old_string":"x","new_string":"z"}}}'`
    await settings({ PreToolUse: [{ matcher: 'Edit|Write', ...command(change) }] })
    await trustAll()
    const hooks = open()
    await hooks.refresh(workdir)
    expect(await run(hooks, call('shell', { command: 'ls' }))).toBeNull()
    const ran = await run(hooks, call('edit_file', { path: 'a.txt', old_text: 'x', new_text: 'y' }))
    expect(JSON.parse(await readFile(join(workdir, 'got.json'), 'utf8'))).toMatchObject({
      tool_name: 'Edit',
      tool_input: { file_path: join(workdir, 'a.txt'), old_string: 'x', new_string: 'y' },
    })
    expect(ran?.answer.args?.value).toEqual({ path: 'a.txt', old_text: 'x', new_text: 'z' })
  })

  it('of .holdfast get the names of Holdfast', async () => {
    await settings({ PreToolUse: [{ matcher: 'edit_file', ...command('cat > got.json') }] }, '.holdfast/hooks.json')
    await trustAll()
    const hooks = open()
    await hooks.refresh(workdir)
    await run(hooks, call('edit_file', { path: 'a.txt' }))
    expect(JSON.parse(await readFile(join(workdir, 'got.json'), 'utf8'))).toMatchObject({
      tool_input: { path: 'a.txt' },
    })
  })

  it('that are not supported are named, and never run', async () => {
    await settings({
      PermissionRequest: [command('touch ran')],
      PreToolUse: [
        { hooks: [{ type: 'http', url: 'http://x' }] },
        command('true', { async: true }),
        { matcher: '(?=x)', ...command('x') },
      ],
      Stop: 'garbage',
      PostToolUse: [command('cat > /dev/null', { if: 'Bash(git *)' })],
    })
    await trustAll()
    const hooks = open()
    expect((await hooks.list(workdir)).map(({ event, state, why }) => [event, state, why])).toEqual([
      ['PostToolUse', 'active', expect.stringContaining('"if" is not followed')],
      ['PermissionRequest', 'unsupported', expect.stringContaining('no event PermissionRequest')],
      ['PreToolUse', 'unsupported', expect.stringContaining('type http')],
      ['PreToolUse', 'unsupported', expect.stringContaining('async')],
      ['PreToolUse', 'unsupported', expect.stringContaining('matcher')],
      ['Stop', 'unsupported', expect.stringContaining('cannot be read')],
    ])
  })

  it('in files that are no JSON, far too long, or links out of the workspace do not stop a session', async () => {
    await write('.claude/settings.json', '{"hooks"')
    await write('.holdfast/hooks.json', ' '.repeat(2 * 1024 * 1024))
    await writeFile(join(root, 'outside.json'), JSON.stringify({ hooks: { Stop: [command('x')] } }))
    await symlink(join(root, 'outside.json'), join(workdir, '.claude/settings.local.json'))
    const hooks = open()
    await hooks.refresh(workdir)
    expect(await hooks.list(workdir)).toMatchObject([{ state: 'unsupported' }, { state: 'unsupported' }])
  })

  it('run before those of the user, who has the last word', async () => {
    await settings({
      PreToolUse: [command(`cat > /dev/null; echo '{"hookSpecificOutput":{"updatedInput":{"command":"rm"}}}'`)],
    })
    await trustAll()
    const guard = command(`grep -q '"command":"rm"' && exit 2; exit 0`)
    const hooks = open({ user: { PreToolUse: [guard] } })
    await hooks.refresh(workdir)
    expect(
      (await run(hooks, call('shell', { command: 'ls' })))?.runs.map(({ source, outcome }) => [source, outcome]),
    ).toEqual([
      ['workspace', 'ok'],
      ['user', 'blocked'],
    ])
  })
})

describe('the hooks of a program', () => {
  it('are functions with typed payloads', async () => {
    const hooks = open({
      own: {
        PreToolUse: [
          {
            matcher: 'shell',
            run: ({ tool_input: { command: text } }) => (text === 'rm' ? { block: 'no' } : undefined),
          },
        ],
        UserPromptSubmit: [async ({ prompt }) => ({ context: prompt.toUpperCase() })],
      },
    })
    expect((await run(hooks, call('shell', { command: 'rm' })))?.answer.block).toBe('no')
    expect((await run(hooks, call('shell', { command: 'ls' })))?.answer.block).toBeNull()
    expect((await run(hooks, { event: 'UserPromptSubmit', prompt: 'hi' }))?.answer.context).toBe('HI')
  })

  it.each<[string, NonNullable<OwnHooks['PreToolUse']>[number]]>([
    [
      'throw',
      () => {
        throw new Error('boom')
      },
    ],
    ['return something else', () => ({ blok: 'no' }) as never],
    ['hang', { run: () => new Promise(() => undefined), timeoutMs: 20 }],
  ])('that %s refuse', async (_, hook) => {
    expect((await run(open({ own: { PreToolUse: [hook] } }), call('shell', {})))?.answer.block).toMatch(
      /could not decide/,
    )
  })

  it('are checked when Holdfast opens', () => {
    expect(findHooksFault({ PreToolUs: [] })?.message).toContain('no event PreToolUs')
    expect(findHooksFault({ Stop: ['sh'] })?.message).toContain('list of functions')
    expect(findHooksFault({ PreToolUse: [{ matcher: '(', run: () => undefined }] })?.message).toContain('matcher')
    expect(findHooksFault({ Stop: [() => undefined] })).toBeNull()
  })
})
