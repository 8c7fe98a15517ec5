import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonSchema, tool } from '@ai-sdk/provider-utils'
import type { Session } from '@holdfast/client'
import type { Tool } from '@holdfast/core/ports'
import { blobsOf } from '@holdfast/protocol'
import { call, createScriptedModel, say } from '@holdfast/testkit'
import { type } from 'arktype'
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { openHoldfast } from '../../open.ts'
import { defineTool } from './define-own-tool.ts'
import type { OwnTools } from './own-tools.ts'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-own-tools-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** Opens a runtime with these tools, and a session whose model makes this call and then says `Done.` */
async function open(tools: OwnTools, name: string, args: { readonly [key: string]: unknown }) {
  const model = createScriptedModel([[call(name, args)], [say('Done.')]])
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' }
  const holdfast = await openHoldfast({ store: 'memory:', environment, tools, models: { 'own/model': model } })
  const session = await holdfast.startSession({ workdir: home, model: 'own/model' })
  return { session, model, [Symbol.asyncDispose]: () => holdfast.close() }
}

/** Runs the turn, approves every call, and returns the settled calls and the approvals. */
async function run(session: Session) {
  const asked: unknown[] = []
  const results: { readonly status: string; readonly text: string }[] = []
  for await (const item of session.prompt('go')) {
    if (item.type === 'approval') {
      asked.push(item.approval.preview)
      await session.respondToApproval('approve', item.approval.id)
    }
    if (item.type === 'tool_result') results.push({ status: item.call.status, text: item.call.result?.text ?? '' })
  }
  return { asked, results }
}

/** Opens a runtime and waits until a call of `forecast` is asked about, in a new session or in the given one. */
async function openAsked(store: string, tool: Tool, known?: Session) {
  const model = createScriptedModel([...(known ? [] : [[call('forecast', {})]]), [say('Done.')]])
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' }
  const holdfast = await openHoldfast({ store, environment, tools: [tool], models: { 'own/model': model } })
  const session = known
    ? await holdfast.getSession(known.id)
    : await holdfast.startSession({ workdir: home, model: 'own/model' })
  if (!known) await session.sendPrompt('go')
  const next = async (after?: number) => {
    for await (const frame of session.subscribe()) {
      if (frame.type !== 'record' && frame.type !== 'snapshot') continue
      const asked = (await session.editorSnapshot()).pendingApprovals.find(({ id }) => id !== after)
      if (asked) return { asked }
    }
    throw new Error('the session ended')
  }
  const settled = async () => {
    for await (const frame of session.subscribe()) {
      if (frame.type !== 'record' && frame.type !== 'snapshot') continue
      for (const one of await session.messages())
        if (one.kind === 'tool_call' && one.call.status === 'complete') return one.call.result?.text
    }
    throw new Error('the session ended')
  }
  return { session, ...(await next()), next, settled, close: () => holdfast.close() }
}

const input = z.object({ city: z.string(), days: z.number().default(3) })
const forecast = (more: Partial<Parameters<typeof defineTool<typeof input>>[0]> = {}) =>
  defineTool({
    name: 'forecast',
    description: 'Returns the weather.',
    input,
    readOnly: true,
    run: ({ city, days }) => `${city}: ${days} days of sun`,
    ...more,
  })

describe('a tool of the program', () => {
  it('takes a schema that is a function, as those of ArkType are', async () => {
    const arkTool = defineTool({
      name: 'forecast',
      description: 'Returns the weather.',
      input: type({ city: 'string' }),
      readOnly: true,
      run: ({ city }) => `${city}: sun`,
    })
    await using test = await open([arkTool], 'forecast', { city: 'Oslo' })
    expect(await run(test.session)).toMatchObject({ results: [{ status: 'complete', text: 'Oslo: sun' }] })
    const sent = test.model.requests[0]?.tools.find(({ name }) => name === 'forecast')
    expect(sent).toMatchObject({ input: { properties: { city: { type: 'string' } }, required: ['city'] } })
  })

  it('gets checked arguments with defaults, and its schema is sent to the model', async () => {
    await using test = await open([forecast()], 'forecast', { city: 'Oslo' })
    expect(await run(test.session)).toEqual({
      asked: [],
      results: [{ status: 'complete', text: 'Oslo: 3 days of sun' }],
    })
    const sent = test.model.requests[0]?.tools.find(({ name }) => name === 'forecast')
    expect(sent).toMatchObject({ description: 'Returns the weather.', input: { required: ['city'] } })
  })

  it('fails with a sentence if its arguments are wrong, and does not run', async () => {
    await using test = await open([forecast()], 'forecast', { city: 5 })
    const { results } = await run(test.session)
    expect(results).toMatchObject([{ status: 'error', text: expect.stringContaining('forecast cannot use these') }])
    expect(results[0]?.text).toContain('city: ')
  })

  it('that changes something is asked for with its preview, and its files are recorded', async () => {
    const save = defineTool({
      name: 'save',
      description: 'Saves a note.',
      input: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
      preview: ({ note }, { workdir }) => ({ type: 'command', command: `save ${note}`, cwd: workdir }),
      async run({ note }, { workdir, progress }) {
        expectTypeOf(note).toEqualTypeOf<string>()
        progress('saving')
        await writeFile(join(workdir, 'note.txt'), note)
        return { text: 'saved', files: [{ path: 'note.txt', change: 'created' }] }
      },
    })
    await using test = await open([save], 'save', { note: 'milk' })
    const { asked, results } = await run(test.session)
    expect(asked).toEqual([{ type: 'command', command: 'save milk', cwd: home }])
    expect(results).toEqual([{ status: 'complete', text: 'saved' }])
    const events = await Array.fromAsync(recordsOf(test.session))
    expect(events.find(({ type }) => type === 'call.settled')).toMatchObject({
      files: [{ path: 'note.txt', change: 'created' }],
    })
    expect(events.find(({ type }) => type === 'call.approved')).toMatchObject({ by: { client: null }, scope: 'once' })
  })

  it.each([false, true])(
    'fails if it changed lines outside an edit boundary, with the diff, and can be put back (readOnly: %s)',
    async (readOnly) => {
      await writeFile(join(home, 'a.txt'), 'one\ntwo\n')
      const write = forecast({
        readOnly,
        async run({ city }, { workdir }) {
          await writeFile(join(workdir, 'a.txt'), `${city}\ntwo\n`)
          return { text: 'written', files: [{ path: 'a.txt', change: 'modified' }] }
        },
      })
      await using test = await open([write], 'forecast', { city: 'Oslo' })
      await test.session.setBoundary('a.txt', 1, 1)
      const { results } = await run(test.session)
      expect(results).toMatchObject([{ status: 'error', text: expect.stringContaining('-one\n+Oslo\n') }])
      const calls = (await test.session.messages()).flatMap((one) => (one.kind === 'tool_call' ? [one.call] : []))
      expect(calls[0]?.files).toEqual([{ path: 'a.txt', change: 'modified', outside: true }])
      await test.session.restoreFiles({ call: calls[0]?.id, paths: ['a.txt'] })
      expect(await readFile(join(home, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
    },
  )

  it('that changes something is denied in plan mode', async () => {
    await using test = await open([forecast({ readOnly: false })], 'forecast', { city: 'Oslo' })
    await test.session.enterPlan()
    expect(await run(test.session)).toMatchObject({ asked: [], results: [{ status: 'denied' }] })
  })

  it('that throws is a failed call, and long output becomes a blob', async () => {
    const broken = forecast({
      run: () => {
        throw new Error('no satellite')
      },
    })
    await using test = await open([broken], 'forecast', { city: 'Oslo' })
    expect((await run(test.session)).results).toEqual([
      { status: 'error', text: 'The tool forecast failed: no satellite' },
    ])
    await using long = await open([forecast({ run: () => 'x'.repeat(200_000) })], 'forecast', { city: 'Oslo' })
    expect((await run(long.session)).results[0]?.text).toContain('the whole output is kept as')
  })

  it('runs with the arguments that were shown and approved, also after a restart', async () => {
    const note = () =>
      forecast({
        input: z.object({ city: z.string().default(() => crypto.randomUUID()), days: z.number().default(3) }) as never,
        readOnly: false,
        run: ({ city }) => city,
      })
    const shown = (asked: readonly unknown[]) =>
      asked.map((preview) => (preview as { args: { city: string } }).args.city) // as the default preview is
    {
      await using test = await open([note()], 'forecast', {})
      const { asked, results } = await run(test.session)
      expect(results).toEqual([{ status: 'complete', text: shown(asked)[0] }])
    }
    const aiSdk = tool({
      inputSchema: z.object({ city: z.string().default(() => crypto.randomUUID()) }),
      execute: ({ city }) => city,
    })
    {
      await using test = await open({ forecast: aiSdk }, 'forecast', {})
      const { asked, results } = await run(test.session)
      expect(results).toEqual([{ status: 'complete', text: shown(asked)[0] }])
    }
    // The schema is random, so that another process cannot know what was approved: a person is asked again.
    const store = `sqlite:${join(home, 'restart.db')}`
    const { session, asked, close } = await openAsked(store, note())
    await close()
    const again = await openAsked(store, note(), session)
    expect(again.asked.id).toBe(asked.id)
    await again.session.respondToApproval('approve')
    const { asked: changed } = await again.next(asked.id)
    expect(changed).toMatchObject({ changed: true })
    await again.session.respondToApproval('approve')
    const ran = await again.settled()
    expect([ran]).toEqual(shown([changed.preview]))
    expect(ran).not.toBe(shown([asked.preview])[0])
    await again.close()
  })

  it('runs its calls of one round at the same time', async () => {
    const both = Promise.withResolvers<void>()
    let running = 0
    const meet = forecast({
      async run({ city }) {
        running += 1
        if (running === 2) both.resolve()
        await both.promise
        return city
      },
    })
    const model = createScriptedModel([
      [call('forecast', { city: 'Oslo' }), call('forecast', { city: 'Rome' })],
      [say('Done.')],
    ])
    const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' }
    await using holdfast = await openHoldfast({
      store: 'memory:',
      environment,
      tools: [meet],
      models: { 'own/model': model },
    })
    const session = await holdfast.startSession({ workdir: home, model: 'own/model' })
    expect((await run(session)).results.map(({ text }) => text).sort()).toEqual(['Oslo', 'Rome'])
  })

  it('reads the blobs that it has stored in the same call', async () => {
    const copy = forecast({
      async run(_, { blobs }) {
        const { hash } = await blobs.put(new TextEncoder().encode('a picture'))
        return Buffer.concat(await Array.fromAsync(await blobs.open(hash))).toString()
      },
    })
    await using test = await open([copy], 'forecast', { city: 'Oslo' })
    expect((await run(test.session)).results).toEqual([{ status: 'complete', text: 'a picture' }])
  })

  it('stores blobs that its result names', async () => {
    const copy = forecast({
      async run(_, { blobs }) {
        const blob = await blobs.put(new TextEncoder().encode('a picture'))
        return { text: 'stored', blob }
      },
    })
    await using test = await open([copy], 'forecast', { city: 'Oslo' })
    await run(test.session)
    const blobs = (await Array.fromAsync(recordsOf(test.session))).flatMap(blobsOf)
    const files = await Promise.all(blobs.map(async (hash) => Array.fromAsync(await test.session.blob(hash))))
    expect(files.map((pieces) => Buffer.concat(pieces).toString())).toContain('a picture')
  })

  it('is refused with a reason', async () => {
    const refused = (tools: unknown) =>
      openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: home }, tools: tools as OwnTools })
    await expect(refused([forecast({ name: 'shell' })])).rejects.toThrow('there is already a tool of this name')
    const definition = { name: 'x', description: 'x', input, run: () => '' }
    await expect(refused([definition])).rejects.toThrow('Write tools: [defineTool({')
    const message = expect.stringContaining('has a value that is not a tool. Use defineTool')
    for (const wrong of [null, 5, 'x', () => '', [null], ['x'], [() => ''], [[forecast()]]])
      await expect(refused(wrong)).rejects.toMatchObject({ code: 'bad_request', message })
    await expect(refused([{ schema: 5, prepare: 5 }])).rejects.toThrow('it is not a tool')
    await expect(refused([tool({ inputSchema: input, execute: () => 1 })])).rejects.toThrow('has no name')
    expect(() => forecast({ name: 'a b' })).toThrow('a name is a letter')
    expect(() => forecast({ destructive: true })).toThrow('both readOnly and destructive')
    expect(() => defineTool({ name: 'x', description: 'x', input: {} as never, run: () => '' })).toThrow(
      'must be a Standard Schema or a JSON Schema',
    )
    const bare = { '~standard': { version: 1, vendor: 'bare', validate: (value: unknown) => ({ value }) } } as const
    expect(() => defineTool({ name: 'x', description: 'x', input: bare, run: () => '' })).toThrow(
      'Give it as jsonSchema',
    )
  })
})

describe('a tool of the AI SDK', () => {
  it.each([
    ['Zod', input, { city: 'Oslo', days: 3 }], // with its default
    ['ArkType', type({ city: 'string', days: 'number = 3' }), { city: 'Oslo', days: 3 }], // a function
    [
      'jsonSchema()',
      jsonSchema<z.infer<typeof input>>({ type: 'object', properties: { city: { type: 'string' } } }),
      { city: 'Oslo' },
    ],
  ])('with a schema of %s works as it is, after approval', async (_, inputSchema, args) => {
    const weather = tool({
      description: 'Returns the weather.',
      inputSchema,
      execute: async ({ city }, { abortSignal }) => ({ city, sunny: abortSignal?.aborted === false }),
    })
    await using test = await open({ weather }, 'weather', { city: 'Oslo' })
    const { asked, results } = await run(test.session)
    expect(asked).toEqual([{ type: 'arguments', args }])
    expect(results).toEqual([{ status: 'complete', text: '{"city":"Oslo","sunny":true}' }])
  })

  it('that streams gives its last result, and its output for the model is used', async () => {
    const weather = tool({
      inputSchema: input,
      async *execute({ city }) {
        yield `asking about ${city}`
        yield `sun in ${city}`
      },
      toModelOutput: ({ output }) => ({ type: 'text' as const, value: `It says: ${output}` }),
    })
    await using test = await open([{ weather }], 'weather', { city: 'Oslo' })
    expect((await run(test.session)).results).toEqual([{ status: 'complete', text: 'It says: sun in Oslo' }])
  })

  it('gives the model the images of its content, and names what no model can be sent', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const link = 'https://example.org/map.png'
    const look = tool({
      inputSchema: input,
      execute: async () => 'a map',
      toModelOutput: () => ({
        type: 'content' as const,
        value: [
          { type: 'text' as const, text: 'The map:' },
          {
            type: 'file' as const,
            mediaType: 'image/png',
            filename: 'map.png',
            data: { type: 'data' as const, data: png },
          },
          { type: 'file-data' as const, mediaType: 'image/png', data: png },
          { type: 'file' as const, mediaType: 'image/png', data: { type: 'url' as const, url: new URL(link) } },
          { type: 'file' as const, mediaType: 'text/plain', data: { type: 'text' as const, text: 'A legend.' } },
          {
            type: 'file' as const,
            mediaType: 'audio/mp3',
            filename: 'a\nb',
            data: { type: 'data' as const, data: 'AAAA' },
          },
        ],
      }),
    })
    await using test = await open({ look }, 'look', { city: 'Oslo' })
    const { results } = await run(test.session)
    expect(results).toEqual([
      {
        status: 'complete',
        text: `The map:\n[${link}]\nA legend.\n[a\\nb: 3 bytes, which cannot be shown]`,
      },
    ])
    const settled = (await Array.fromAsync(recordsOf(test.session))).find((event) => event.type === 'call.settled')
    const image = { type: 'file', mediaType: 'image/png' }
    expect(settled).toMatchObject({ outcome: { output: { fileParts: [{ ...image, name: 'map.png' }, image] } } })
  })
})

describe('a tool of the program that runs', () => {
  it('shows its progress as live output', async () => {
    const talk = forecast({
      run: ({ city }, { progress }) => {
        progress(`asking about ${city}`)
        return 'sun'
      },
    })
    await using test = await open([talk], 'forecast', { city: 'Oslo' })
    const shown: string[] = []
    const frames = test.session.subscribe()[Symbol.asyncIterator]()
    await frames.next() // the snapshot: from here on every frame is seen
    await test.session.sendPrompt('go')
    for (let next = await frames.next(); !next.done; next = await frames.next()) {
      const { value } = next
      if (value.type === 'delta' && value.kind === 'output') shown.push(value.text)
      if (value.type === 'record' && value.record.event.type === 'turn.ended') break
    }
    await frames.return?.(undefined)
    expect(shown.join('')).toBe('asking about Oslo')
  })

  it('has its signal aborted when a person stops the turn, and its call is interrupted', async () => {
    const began = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<boolean>()
    const slow = forecast({
      run: (_, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.aborted))
        began.resolve()
        return aborted.promise
      },
    })
    await using test = await open([slow], 'forecast', { city: 'Oslo' })
    const turn = test.session.prompt('go')
    const items = Array.fromAsync(turn)
    await began.promise
    await test.session.abort()
    expect(await aborted.promise).toBe(true)
    expect(await turn.result()).toMatchObject({ reason: 'aborted' })
    const results = (await items).filter((item) => item.type === 'tool_result')
    expect(results).toMatchObject([{ call: { status: 'interrupted' } }])
  })
})

/** Yields the events of a session so far. */
async function* recordsOf(session: Session) {
  for await (const frame of session.subscribe({ after: 0 })) {
    if (frame.type !== 'record') return
    yield frame.record.event
  }
}
