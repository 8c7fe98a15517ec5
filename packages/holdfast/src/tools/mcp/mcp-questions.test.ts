import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import type { PendingApproval } from '@holdfast/protocol'
import { call, createScriptedModel, say } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { createCallClock } from './connection/call-clock.ts'
import { readElicitation } from './connection/elicitation.ts'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
const everything = join(manifest, '..', 'dist', 'index.js')
let home = ''
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-questions-')))
  await mkdir(join(home, 'config'))
  await mkdir(join(home, 'work'))
  const every = { command: process.execPath, args: [everything] }
  await writeFile(join(home, 'config', 'mcp.json'), JSON.stringify({ mcpServers: { every } }))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function open(...calls: readonly (readonly [string, object])[]) {
  const model = createScriptedModel([...calls.map(([name, args]) => [call(name, { ...args })]), [say('Done.')]])
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off', PATH: process.env['PATH'] ?? '' }
  const holdfast = await openHoldfast({ store: 'memory:', environment, models: { 'own/model': model } })
  const session = await holdfast.startSession({ workdir: join(home, 'work'), model: 'own/model' })
  return { session, model, [Symbol.asyncDispose]: () => holdfast.close() }
}

/** Runs the turn, approves calls, and answers questions with `answer`. Returns what was asked and what calls returned. */
async function run(session: Session, prompt: string, answer: (asked: PendingApproval) => Promise<unknown>) {
  const questions: PendingApproval[] = []
  const results: string[] = []
  for await (const item of session.prompt(prompt)) {
    if (item.type === 'tool_result') results.push(item.call.result?.text ?? '')
    if (item.type !== 'approval') continue
    if (item.approval.preview.type !== 'question') await session.respondToApproval('approve', item.approval.id)
    else {
      questions.push(item.approval)
      await answer(item.approval)
    }
  }
  return { questions, results }
}

describe('a question of a server', () => {
  const asking = ['mcp__every__trigger-elicitation-request', {}] as const

  it('is put to the person like an approval, and the server gets the answer', async () => {
    await using test = await open(asking)
    const { session } = test
    const { questions, results } = await run(session, 'go', async ({ id }) => {
      const wrong = await session
        .respondToApproval('approve', id, undefined, { answers: { name: 7 } })
        .catch((error) => error)
      expect(wrong).toMatchObject({ code: 'bad_request' })
      await session.respondToApproval('approve', id, undefined, { answers: { name: 'Ada', check: true } })
    })
    expect(questions).toMatchObject([{ preview: { type: 'question', from: 'every', fields: expect.any(Array) } }])
    expect(results.join('\n')).toContain('Ada')
    expect((await session.editorSnapshot()).pendingApprovals).toEqual([])
  })

  it.each([
    ['reject', /declined/i],
    ['cancel', /cancel/i],
  ] as const)('can be answered with %s', async (decision, said) => {
    await using test = await open(asking)
    const { results } = await run(test.session, 'go', ({ id }) => test.session.respondToApproval(decision, id))
    expect(results.join('\n')).toMatch(said)
  })

  it('ends with its turn', async () => {
    await using test = await open(asking)
    const { session } = test
    const turn = run(session, 'go', async () => {
      await session.abort()
    })
    expect((await turn).questions).toHaveLength(1)
    expect((await session.editorSnapshot()).pendingApprovals).toEqual([])
  })
})

describe('what a server asks', () => {
  const schema = (properties: object, required: readonly string[] = []) =>
    ({ message: 'Please', requestedSchema: { type: 'object', properties, required } }) as never // as servers send it

  it('becomes fields, in any form of the protocol', () => {
    const question = readElicitation(
      'srv',
      schema(
        {
          mail: { type: 'string', format: 'email', title: 'Mail', minLength: 3 },
          size: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
          sure: { type: 'boolean', default: true },
          old: { type: 'string', enum: ['a', 'b'], enumNames: ['Alder', 'Birch'] },
          titled: { type: 'string', oneOf: [{ const: 'x', title: 'Ex' }] },
          many: { type: 'array', minItems: 1, items: { anyOf: [{ const: 'p', title: 'Pea' }] } },
        },
        ['mail'],
      ),
    )
    expect(question?.fields).toEqual([
      { name: 'mail', kind: 'text', isRequired: true, title: 'Mail', format: 'email', min: 3 },
      { name: 'size', kind: 'integer', isRequired: false, default: 2, min: 1, max: 9 },
      { name: 'sure', kind: 'boolean', isRequired: false, default: true },
      {
        name: 'old',
        kind: 'choice',
        isRequired: false,
        options: [
          { value: 'a', label: 'Alder' },
          { value: 'b', label: 'Birch' },
        ],
      },
      { name: 'titled', kind: 'choice', isRequired: false, options: [{ value: 'x', label: 'Ex' }] },
      { name: 'many', kind: 'choices', isRequired: false, min: 1, options: [{ value: 'p', label: 'Pea' }] },
    ])
  })

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'no url'])('is no page to open: %s', (url) => {
    expect(readElicitation('srv', { mode: 'url', message: 'Open', url, elicitationId: '1' })).toBeNull()
  })

  it('is not put to a person if it has too many or nested fields', () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, { type: 'string' }]))
    expect(readElicitation('srv', schema(many))).toBeNull()
    expect(readElicitation('srv', schema({ deep: { type: 'object', properties: {} } }))).toBeNull()
  })
})

describe('the clock of a call', () => {
  it('stands still while a person is asked, and starts again with progress', async () => {
    vi.useFakeTimers()
    try {
      const clock = createCallClock(1000)
      vi.advanceTimersByTime(900)
      clock.touch()
      const { promise, resolve } = Promise.withResolvers<void>()
      const asked = clock.during(() => promise)
      vi.advanceTimersByTime(60_000)
      expect(clock.signal.aborted).toBe(false)
      resolve()
      await asked
      vi.advanceTimersByTime(999)
      expect(clock.signal.aborted).toBe(false)
      vi.advanceTimersByTime(1)
      expect(clock.signal.aborted).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('prompts and resources of a server', () => {
  it('lists prompts as slash commands once the server is known, and sends what the server returns', async () => {
    await using test = await open()
    const { session, model } = test
    const named = async () => (await session.getCommands()).filter(({ source }) => source === 'server')
    expect(await named()).toEqual([])
    await session.prompt('/mcp__every__args-prompt Rome "Latium state"').text()
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('Rome')
    expect(await named()).toContainEqual(
      expect.objectContaining({ name: 'mcp__every__args-prompt', arguments: '<city> [state]', scope: 'user' }),
    )
    await expect(session.prompt('/mcp__every__args-prompt').text()).rejects.toMatchObject({ code: 'bad_request' })
    await expect(session.prompt('/mcp__every__args-promt').text()).rejects.toMatchObject({ code: 'command_not_found' })
  })

  it('does not list or send the prompts of a server that is off in the session', async () => {
    await using test = await open()
    const { session, model } = test
    await session.prompt('/mcp__every__args-prompt Rome').text()
    const asked = model.requests.length
    await session.setServer('every', false)
    expect((await session.getCommands()).filter(({ source }) => source === 'server')).toEqual([])
    await expect(session.prompt('/mcp__every__args-prompt Rome').text()).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('every, which is off in this session'),
    })
    expect(model.requests).toHaveLength(asked)
  })

  it('offers tools that list and read resources, without asking', async () => {
    await using test = await open(
      ['list_mcp_resources', {}],
      ['read_mcp_resource', { server: 'every', uri: 'demo://resource/dynamic/text/1' }],
      ['read_mcp_resource', { server: 'every', uri: 'demo://none' }],
      ['read_mcp_resource', { server: 'none', uri: 'demo://resource' }],
    )
    await test.session.retryServer('every')
    const { questions, results } = await run(test.session, 'go', async () => undefined)
    expect(questions).toEqual([])
    expect(results[0]).toContain('Resources of every:')
    expect(results[0]).toContain('demo://resource/dynamic/text/{resourceId}')
    expect(results[1]).toContain('Resource 1')
    expect(results[2]).toMatch(/^mcp_failed: The server every failed/)
    expect(results[3]).toContain('No server none has resources. There are: every.')
  })
})
