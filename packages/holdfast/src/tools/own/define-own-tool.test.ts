import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Tool, ToolBlobs, ToolContext, ToolRun } from '@holdfast/core/ports'
import { BlobHash, fault, HoldfastError } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './define-own-tool.ts'
import type { FromJsonSchema } from './tool-input.ts'

const input = { type: 'object', properties: {} } as const
const context = { workdir: '/work' } as ToolContext // an own tool reads nothing else of it
const call = {
  begin: async () => ({ ok: true, value: undefined }),
  signal: new AbortController().signal,
  show: () => undefined,
  storeOutput: () => Promise.reject(new Error('the output is short')),
} as unknown as ToolRun // an own tool uses nothing else of it

describe('a tool that names files or blobs', () => {
  const stored = { hash: BlobHash.parse('a'.repeat(64)), bytes: 3 }
  const ofSession = BlobHash.parse('b'.repeat(64))
  const ofOthers = 'c'.repeat(64)
  const blobs: ToolBlobs = {
    put: async () => stored,
    async open(hash) {
      if (hash !== ofSession) throw new HoldfastError(fault('blob_not_found', 'not of this session'))
      return Readable.from([Buffer.from('four'), Buffer.from('five')])
    },
  }
  let workdir = ''
  beforeAll(async () => {
    const root = await mkdtemp(join(tmpdir(), 'holdfast-own-output-'))
    workdir = join(root, 'work')
    await mkdir(workdir)
    await symlink(root, join(workdir, 'out'))
  })
  afterAll(() => rm(join(workdir, '..'), { recursive: true, force: true }))

  const runWith = (output: { readonly files?: unknown; readonly blob?: unknown }) =>
    defineTool({
      name: 'note',
      description: 'Notes.',
      input,
      async run(_, context) {
        await context.blobs.put(Buffer.from('one'))
        return { text: 'noted', ...output } as never // a program may not be type-checked
      },
    }).run({}, { workdir }, { ...call, blobs })

  it('has them recorded if they are its own', async () => {
    const files = [
      { path: './a.txt', change: 'modified', before: { type: 'file', hash: stored.hash, mode: 0o644 } },
      { path: 'b/c.txt', change: 'moved', from: join(workdir, 'old.txt') },
    ]
    expect(await runWith({ files, blob: { hash: stored.hash, bytes: 999 } })).toMatchObject({
      type: 'ok',
      output: { text: 'noted', blob: stored },
      files: [{ path: 'a.txt' }, { path: 'b/c.txt', from: 'old.txt' }],
    })
    expect((await runWith({ blob: { hash: ofSession, bytes: 0 } })).output.blob).toEqual({ hash: ofSession, bytes: 8 })
  })

  const changed = (change: object) => ({ files: [{ path: 'a.txt', change: 'modified', ...change }] })
  it.each([
    ['bad_request', changed({ path: 7 }), 'returned wrong files: 0.path: '],
    ['bad_request', changed({ path: 'a\0b' }), 'returned an invalid path'],
    ['bad_request', changed({ path: 'a'.repeat(5000) }), 'returned an invalid path'],
    ['outside_workdir', changed({ path: '../a.txt' }), 'is outside the working directory'],
    ['outside_workdir', changed({ path: '/etc/passwd' }), 'is outside the working directory'],
    ['outside_workdir', changed({ path: 'out/a.txt' }), 'is outside the working directory'],
    ['outside_workdir', changed({ change: 'moved', from: '../a.txt' }), 'is outside the working directory'],
    ['blob_not_found', changed({ before: { type: 'file', hash: ofOthers, mode: 0 } }), `no blob ${ofOthers}`],
    ['blob_not_found', { blob: { hash: ofOthers, bytes: 1 } }, `no blob ${ofOthers}`],
    ['bad_request', { blob: { hash: 'wrong', bytes: 1 } }, 'Return what blobs.put returned.'],
    ['bad_request', { blob: null }, 'Return what blobs.put returned.'],
  ])('is refused with %s if they are not: %j', async (code, output, why) => {
    const { type, output: said, files } = await runWith(output)
    expect({ type, files }).toEqual({ type: 'failed', files: undefined })
    expect(said.text.startsWith(`${code}: The tool note ran, but `)).toBe(true)
    expect(said.text).toContain(why)
    expect(said.text).not.toContain('\n')
  })

  it('is refused if there are too many, and none is read', async () => {
    let read = 0
    const one = Object.defineProperty({ change: 'modified' }, 'path', { enumerable: true, get: () => `${read++}` })
    const { output } = await runWith({ files: new Array(300_000).fill(one) })
    expect(output.text).toBe('too_large: The tool note ran, but returned 300000 files. A call may name up to 1000.')
    expect(read).toBe(0)
  })
})

it('shows the arguments that run gets, with the defaults of its schema', async () => {
  const input = z.object({ to: z.string().default('production'), force: z.boolean().default(true) })
  const tool = defineTool({ name: 'deploy', description: 'Deploys.', input, run: () => 'done' })
  expect(await tool.prepare({ force: false }, context, call.signal)).toEqual({
    type: 'ready',
    args: { force: false },
    preview: { type: 'arguments', args: { to: 'production', force: false } },
    contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

describe('a tool whose schema makes other arguments each time', () => {
  const define = () =>
    defineTool({
      name: 'note',
      description: 'Notes.',
      input: z.object({ id: z.string().default(() => crypto.randomUUID()) }),
      run: ({ id }) => id,
    })
  const shownBy = async (tool: Tool, approved?: BlobHash) => {
    const prepared = await tool.prepare({}, { ...context, approved }, call.signal)
    if (prepared.type !== 'ready' || prepared.preview.type !== 'arguments') throw new Error('not ready')
    return { id: prepared.preview.args['id'], contentHash: prepared.contentHash }
  }

  it('runs with those that were shown, also if it is prepared again before', async () => {
    const tool = define()
    const first = await shownBy(tool)
    const second = await shownBy(tool)
    expect(second.id).not.toBe(first.id)
    expect(await shownBy(tool, first.contentHash)).toEqual(first)
    const run = async ({ contentHash }: typeof first) =>
      (await tool.run({}, context, { ...call, contentHash })).output.text
    expect([await run(second), await run(first)]).toEqual([second.id, first.id])
  })

  it('does not run with others if it has forgotten them', async () => {
    const { contentHash } = await shownBy(define())
    const restarted = define()
    expect((await shownBy(restarted, contentHash)).contentHash).not.toBe(contentHash)
    const result = await restarted.run({}, context, { ...call, contentHash })
    expect(result).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(/^content_changed: /) } })
  })
})

it('runs after a restart if its schema makes the same arguments again', async () => {
  const define = () =>
    defineTool({
      name: 'note',
      description: 'Notes.',
      input: z.object({
        at: z.string().transform((text) => new Date(text)),
        of: z.map(z.string(), z.string()).optional(),
      }),
      jsonSchema: input,
      run: ({ at }) => at.toISOString(),
    })
  const prepared = await define().prepare({ at: '2026-01-31' }, context, call.signal)
  const contentHash = prepared.type === 'ready' ? prepared.contentHash : undefined
  const result = await define().run({ at: '2026-01-31' }, context, { ...call, contentHash })
  expect(result).toMatchObject({ type: 'ok', output: { text: '2026-01-31T00:00:00.000Z' } })
})

describe('a tool with a wrong preview', () => {
  it.each([{}, { type: 'picture' }, { type: 'diff' }, 'a text'])(
    'is unusable, with one sentence: %j',
    async (shown) => {
      const preview = () => shown as never // a program may not be type-checked
      const tool = defineTool({ name: 'note', description: 'Notes.', input, preview, run: () => 'noted' })
      const message = expect.stringMatching(/^The preview of the tool note is wrong: [^\n]+\.$/)
      expect(await tool.prepare({}, context, call.signal)).toEqual({ type: 'unusable', message })
    },
  )

  it('or one that throws says why', async () => {
    const preview = () => {
      throw new Error('no such note.')
    }
    const tool = defineTool({ name: 'note', description: 'Notes.', input, preview, run: () => 'noted' })
    const message = 'The tool note refuses these arguments: no such note.'
    expect(await tool.prepare({}, context, call.signal)).toEqual({ type: 'unusable', message })
  })
})

describe('a wrong definition', () => {
  const right = { name: 'note', description: 'Notes.', input, run: () => 'noted' }
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'defineTool({ name, description, input, run })'],
    ['a text', 'note', 'defineTool({ name, description, input, run })'],
    ['no name', { ...right, name: undefined }, 'The tool without a name cannot be used: a name is a letter'],
    ['a name of MCP', { ...right, name: 'mcp__note' }, 'belong to the tools of MCP servers'],
    ['no description', { ...right, description: undefined }, 'give it a description'],
    ['an empty description', { ...right, description: ' ' }, 'give it a description'],
    ['a text for readOnly', { ...right, readOnly: 'yes' }, 'readOnly must be true or false'],
    ['a number for destructive', { ...right, destructive: 0 }, 'destructive must be true or false'],
    ['no run', { ...right, run: undefined }, 'run must be a function'],
    ['a text for run', { ...right, run: 'noted' }, 'run must be a function'],
    ['a preview that is no function', { ...right, preview: {} }, 'preview must be a function'],
    ['a jsonSchema that is none', { ...right, jsonSchema: 'x' }, 'jsonSchema must be'],
    ['an unknown field', { ...right, readonly: true }, `no field "readonly". Did you mean 'readOnly'?`],
    ['a field of the AI SDK', { ...right, inputSchema: input }, 'no field "inputSchema"'],
    ['no input', { ...right, input: undefined }, 'its input must be a Standard Schema or a JSON Schema'],
    ['an input that is a text', { ...right, input: z.string() }, 'must be the schema of an object'],
    ['an input that may be a text', { ...right, input: z.union([z.string(), z.object({})]) }, 'schema of an object'],
    [
      'a JSON Schema of a text for the model',
      { ...right, input: z.object({}), jsonSchema: { type: 'string' } },
      'object',
    ],
    ['a date', { ...right, input: z.object({ at: z.date() }) }, 'cannot be turned into a JSON Schema: '],
    [
      'a map',
      { ...right, input: z.object({ at: z.map(z.string(), z.string()) }) },
      'cannot be turned into a JSON Schema',
    ],
  ])('is refused: %s', (_, definition, why) => {
    const define = () => defineTool(definition as typeof right) // a program may not be type-checked
    expect(define).toThrow(HoldfastError)
    expect(define).toThrow(expect.objectContaining({ code: 'bad_request', message: expect.stringContaining(why) }))
  })

  it('is not a union of objects, which the model gets with its type', () => {
    const either = z.discriminatedUnion('at', [z.object({ at: z.literal('a') }), z.object({ at: z.literal('b') })])
    expect(defineTool({ ...right, input: either }).schema.input).toMatchObject({ type: 'object' })
  })
})

describe('the types of a tool', () => {
  it('let it return a value of an interface', async () => {
    interface Weather {
      readonly sunny: boolean
    }
    const weather = async (): Promise<Weather> => ({ sunny: true })
    const tool = defineTool({ name: 'weather', description: 'Returns the weather.', input, run: weather })
    expect((await tool.run({}, context, call)).output.text).toBe('{"sunny":true}')
  })

  it('follow a JSON Schema with several types', () => {
    const several = {
      type: 'object',
      properties: {
        note: { type: ['string', 'null'] },
        count: { type: ['integer', 'boolean'] },
        none: { type: 'null' },
      },
      required: ['note', 'count', 'none'],
    } as const
    type Arguments = FromJsonSchema<typeof several>
    expectTypeOf<Arguments['note']>().toEqualTypeOf<string | null>()
    expectTypeOf<Arguments['count']>().toEqualTypeOf<number | boolean>()
    expectTypeOf<Arguments['none']>().toEqualTypeOf<null>()
  })
})
