import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TurnItem } from '@holdfast/client'
import { expect, it, onTestFinished } from 'vitest'
import { type OpenOptions, openHoldfast } from './open.ts'

async function openPlace(options: OpenOptions = {}, config: object = {}, variables: Record<string, string> = {}) {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-open-hooks-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const workdir = join(home, 'repo')
  await mkdir(workdir)
  await mkdir(join(home, 'config'), { recursive: true })
  await writeFile(join(home, 'config/config.json'), JSON.stringify(config))
  const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'], ...variables }
  const holdfast = await openHoldfast({ store: 'memory:', environment, ...options })
  onTestFinished(() => holdfast.close())
  return { home, workdir, holdfast }
}

const command = (text: string) => [{ hooks: [{ type: 'command', command: text }] }]

it('runs the hooks of the configuration and of the program', async () => {
  const said: string[] = []
  const { workdir, holdfast } = await openPlace(
    {
      hooks: {
        UserPromptSubmit: [
          ({ prompt }) => {
            said.push(prompt)
            return prompt.includes('secret') ? { block: 'No secrets.' } : undefined
          },
        ],
      },
    },
    { hooks: { PreToolUse: command('grep -q "rm " && { echo "not rm" >&2; exit 2; }; exit 0') } },
  )
  const session = await holdfast.startSession({ workdir, approvals: 'none' })
  await expect(session.sendPrompt('my secret')).rejects.toMatchObject({ code: 'hook_vetoed' })
  const items: TurnItem[] = []
  for await (const item of session.prompt('run rm x')) items.push(item)
  expect(said).toEqual(['my secret', 'run rm x'])
  const messages = await session.messages()
  expect(messages.find(({ kind }) => kind === 'tool_call')).toMatchObject({
    call: { status: 'denied', result: { text: 'vetoed: not rm' } },
  })
  expect(messages.filter((message) => message.kind === 'notice' && message.code === 'hook')).toMatchObject([
    { hook: { event: 'UserPromptSubmit', source: 'program', outcome: 'ok' } },
    { hook: { event: 'PreToolUse', source: 'user', outcome: 'blocked', output: { text: 'not rm' } } },
  ])
})

it('runs the hooks of a workspace from the prompt after a person trusts them', async () => {
  const { workdir, holdfast } = await openPlace()
  await mkdir(join(workdir, '.claude'))
  const hooks = { PostToolUse: [{ matcher: 'Write', ...command('cat > got.json')[0] }] }
  await writeFile(join(workdir, '.claude/settings.json'), JSON.stringify({ hooks }))
  const session = await holdfast.startSession({ workdir, approvals: 'none' })
  await session.prompt('write a.txt: one').result()
  await expect(readFile(join(workdir, 'got.json'))).rejects.toThrow()
  const { offers } = await holdfast.workspaceOffers(workdir)
  expect(offers).toMatchObject([{ kind: 'hook', name: '.claude/settings.json PostToolUse 1', verdict: 'new' }])
  await holdfast.trustOffers({ workdir, offers: offers.map(({ kind, name, hash }) => ({ kind, name, hash })) })
  await session.prompt('write b.txt: two').result()
  expect(JSON.parse(await readFile(join(workdir, 'got.json'), 'utf8'))).toMatchObject({
    tool_name: 'Write',
    tool_input: { file_path: join(workdir, 'b.txt'), content: 'two' },
    tool_response: { filePath: join(workdir, 'b.txt') },
  })
  await holdfast.revokeTrust(workdir)
  await rm(join(workdir, 'got.json'))
  await session.prompt('write c.txt: three').result()
  await expect(readFile(join(workdir, 'got.json'))).rejects.toThrow()
})

it('puts what SessionStart hooks say into the system text, and gives hooks no keys', async () => {
  const { workdir, holdfast } = await openPlace(
    { model: 'demo/agent' },
    { hooks: { SessionStart: command('env > env.txt; echo The branch is main.') } },
    { ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef' },
  )
  const session = await holdfast.startSession({ workdir })
  await session.prompt('count to 1').result()
  expect(await readFile(join(workdir, 'env.txt'), 'utf8')).not.toContain('sk-ant')
  for await (const frame of session.subscribe({ after: 0 })) {
    if (frame.type !== 'record' || frame.record.event.type !== 'context.changed') continue
    const blob = await Array.fromAsync(await session.blob(frame.record.event.system))
    expect(Buffer.concat(blob).toString('utf8')).toContain('# Context from hooks')
    expect(Buffer.concat(blob).toString('utf8')).toContain('The branch is main.')
    break
  }
})

it.each([
  [{ hooks: { PreToolUse: [{ matcher: '(', hooks: [{ type: 'command', command: 'x' }] }] } }, /matcher/],
  [{ hooks: { PreToolUs: [] } }, /PreToolUs/],
])('refuses a configuration that cannot be used: %j', async (config, message) => {
  await expect(openPlace({}, config)).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringMatching(message),
  })
})
