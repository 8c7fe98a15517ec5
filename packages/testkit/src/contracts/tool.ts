import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool, ToolArgs, ToolContext, ToolRun } from '@holdfast/core/ports'
import type { ProcessMark } from '@holdfast/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'

/** A tool under test, with a call that works. */
export type ToolSample = {
  /** The tool under test. */
  readonly tool: Tool
  /** The folder to run in. */
  readonly context: ToolContext
  /** Arguments that work in `context`; with a destructive tool they change it. */
  readonly args: ToolArgs
  /** Waits at least as long as the change would take, so that a tool that does not wait for `begin` is caught. */
  readonly outlast?: (() => Promise<void>) | undefined
}

export const notAborted: AbortSignal = new AbortController().signal

/** Creates an empty workdir in its own temporary directory, removed after the test. */
export async function openWorkdir(): Promise<{ readonly workdir: string; readonly beside: string }> {
  const beside = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-tool-')))
  onTestFinished(() => rm(beside, { recursive: true, force: true }))
  const workdir = join(beside, 'work')
  await mkdir(workdir)
  return { workdir, beside }
}

/** Creates a run that stores everything in memory and, by default, begins immediately. */
export function createToolRun(parts: Partial<ToolRun> = {}) {
  const shown: string[] = []
  const marks: (ProcessMark | undefined)[] = []
  const run: ToolRun = {
    signal: new AbortController().signal,
    begin: async (mark) => {
      marks.push(mark)
    },
    show: (text) => shown.push(text),
    storeOutput: async (output) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of output) chunks.push(chunk)
      return { text: Buffer.concat(chunks).toString('utf8') }
    },
    ...parts,
  }
  return { run, shown, marks }
}

/** Returns kind, mode and content of everything below a directory, by path. */
export async function readTree(directory: string, below = ''): Promise<ReadonlyMap<string, string>> {
  const tree = new Map<string, string>()
  // Not a recursive readdir, because that follows links out of the directory.
  for (const name of (await readdir(join(directory, below))).sort()) {
    const way = join(below, name)
    const path = join(directory, way)
    const stats = await lstat(path)
    const mode = stats.mode.toString(8)
    if (stats.isSymbolicLink()) tree.set(way, `${mode} -> ${await readlink(path)}`)
    else if (stats.isFile()) tree.set(way, `${mode} ${await readFile(path, 'latin1')}`)
    else tree.set(way, mode)
    if (stats.isDirectory()) for (const [deeper, entry] of await readTree(directory, way)) tree.set(deeper, entry)
  }
  return tree
}

/** Returns whether an argument is a list that may be empty. */
function takesEmptyList({ schema }: Tool, name: string): boolean {
  const properties = schema.input['properties'] as { readonly [name: string]: { type?: string; minItems?: number } }
  return properties[name]?.type === 'array' && (properties[name].minItems ?? 0) === 0
}

/** Describes what the runtime requires of every tool. A new tool must pass it. */
export function describeTool(name: string, open: () => Promise<ToolSample>) {
  describe(`${name} as a tool`, () => {
    it('declares its name, its arguments and whether it changes anything', async () => {
      const { tool, args } = await open()
      expect(tool.schema.name).toBe(name)
      expect(tool.schema.input).toMatchObject({ type: 'object', additionalProperties: false })
      expect(Object.keys(tool.schema.input['properties'] as object)).toEqual(expect.arrayContaining(Object.keys(args)))
      expect(tool.isDestructive).toBe(!tool.isReadOnly)
    })

    it('explains bad arguments, and never throws', async () => {
      const { tool, context, args } = await open()
      const needsArgs = Array.isArray(tool.schema.input['required'])
      const wrong: ToolArgs[] = [...(needsArgs ? [{}] : []), { ...args, surprise: true }]
      for (const key of Object.keys(args))
        for (const value of [null, ...(takesEmptyList(tool, key) ? [] : [[]]), {}, true])
          wrong.push({ ...args, [key]: value })
      for (const bad of wrong) {
        expect(await tool.prepare(bad, context, notAborted)).toEqual({
          type: 'unusable',
          message: expect.stringContaining(name),
        })
        expect(await tool.run(bad, context, createToolRun().run)).toMatchObject({ type: 'failed' })
      }
      for (const key of Object.keys(args)) {
        const { [key]: _, ...rest } = args
        const prepared = await tool.prepare(rest, context, notAborted)
        if (prepared.type === 'unusable') expect(prepared.message).toContain(`${key} is missing`)
      }
      expect(await tool.prepare({ ...args, surprise: true }, context, notAborted)).toMatchObject({
        message: expect.stringContaining('surprise'),
      })
    })

    it('handles hostile text without throwing', async () => {
      const { tool, context, args } = await open()
      for (const key of Object.keys(args))
        for (const value of ['', '\0', '\ud800', 'x'.repeat(200_000), '\u202e/../\u001b[2J', '../'.repeat(500)])
          expect(['ready', 'unusable']).toContain(
            (await tool.prepare({ ...args, [key]: value }, context, notAborted)).type,
          )
    })

    it('changes nothing while it prepares, and prepares the same result again', async () => {
      const { tool, context, args } = await open()
      const before = await readTree(context.workdir)
      const prepared = await tool.prepare(args, context, notAborted)
      expect(prepared).toMatchObject({ type: 'ready', args })
      expect(await tool.prepare(args, context, notAborted)).toEqual(prepared)
      expect(await readTree(context.workdir)).toEqual(before)
    })

    it('refuses a missing workdir', async () => {
      const { tool, context, args } = await open()
      const missing = { workdir: join(context.workdir, 'no', 'such') }
      expect(await tool.prepare(args, missing, notAborted)).toMatchObject({ type: 'unusable' })
      expect(await tool.run(args, missing, createToolRun().run)).toMatchObject({ type: 'failed' })
    })

    it('changes nothing before begin resolves', async () => {
      const { tool, context, args, outlast } = await open()
      const before = await readTree(context.workdir)
      let atBegin: ReadonlyMap<string, string> | null = null
      const { run } = createToolRun({
        begin: async () => {
          await outlast?.()
          atBegin = await readTree(context.workdir)
        },
      })
      expect(await tool.run(args, context, run)).toMatchObject({ type: 'ok' })
      expect(atBegin).toEqual(before)
      const after = await readTree(context.workdir)
      if (tool.isReadOnly) expect(after).toEqual(before)
      else expect(after).not.toEqual(before)
    })

    it('changes nothing when begin rejects', async () => {
      const { tool, context, args, outlast } = await open()
      const before = await readTree(context.workdir)
      const { run } = createToolRun({ begin: () => Promise.reject(new Error('no longer wanted')) })
      await expect(tool.run(args, context, run)).rejects.toThrow('no longer wanted')
      await outlast?.()
      expect(await readTree(context.workdir)).toEqual(before)
    })

    it('does not begin or change anything once aborted', async () => {
      const { tool, context, args, outlast } = await open()
      const before = await readTree(context.workdir)
      const { run, marks } = createToolRun({ signal: AbortSignal.abort() })
      expect(await tool.run(args, context, run)).toMatchObject({ type: 'failed' })
      await outlast?.()
      expect(marks).toEqual([])
      expect(await readTree(context.workdir)).toEqual(before)
    })

    it('returns on abort while begin is stuck, and changes nothing', async () => {
      const { tool, context, args, outlast } = await open()
      const before = await readTree(context.workdir)
      const controller = new AbortController()
      const { run } = createToolRun({
        signal: controller.signal,
        begin: () => {
          queueMicrotask(() => controller.abort())
          return new Promise(() => undefined)
        },
      })
      expect(await tool.run(args, context, run)).toMatchObject({ type: 'failed' })
      await outlast?.()
      expect(await readTree(context.workdir)).toEqual(before)
    })
  })
}
