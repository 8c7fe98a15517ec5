import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tool, ToolRun } from '@holdfast/core/ports'
import { BlobHash, invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { keyMark, registerKey } from '../../system/secrets/known-keys.ts'
import { createTools } from '../tools.ts'
import { maskedTool } from './masked-tool.ts'

const key = `made-tool-${'X0'.repeat(12)}`
registerKey(key)

const memory = createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 })
const environment = { PATH: process.env['PATH'], PLAIN: key, INSIDE: `mode=${key}`, NAMED: 'hush', LANG: 'C' }
const tools = createTools({ environment, keyNames: ['NAMED'], memory })

/** Gathers all that would go on record or on a screen. */
function listen() {
  const shown: string[] = []
  const kept: Uint8Array[] = []
  const run: ToolRun = {
    signal: new AbortController().signal,
    begin: async () => undefined,
    show: (text) => shown.push(text),
    async storeOutput(output) {
      for await (const bytes of output) kept.push(bytes)
      return { text: Buffer.concat(kept).toString('latin1') }
    },
  }
  return { run, shown, kept }
}

function toolOf(name: string): Tool {
  const tool = tools.find(name)
  invariant(tool, `no tool ${name}`)
  return tool
}

describe('a key that is broken over lines', () => {
  const long = `made-lines-${'Q7'.repeat(10)}-${'W8'.repeat(10)}`
  registerKey(long)
  const [one, two, three] = [long.slice(0, 20), long.slice(20, 34), long.slice(34)]
  const content = `A=1\nKEY=${one}\n${two}\n${three}\nB=2\n`
  const hasPart = /Q7Q7|W8W8/

  async function open() {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'box'), content)
    return workdir
  }

  it('is masked in numbered lines, which stay as many', async () => {
    const workdir = await open()
    const { output } = await toolOf('read_file').run({ path: 'box' }, { workdir }, listen().run)
    expect(output.text).toBe(`1\tA=1\n2\tKEY=${keyMark}\n3\t\n4\t\n5\tB=2`)
  })

  it('is masked in the lines that a search has found', async () => {
    const workdir = await open()
    const args = { pattern: 'Q7|W8', context_lines: 1 }
    const { output } = await toolOf('grep').run(args, { workdir }, listen().run)
    expect(output.text).toBe(`box\n1-A=1\n2:KEY=${keyMark}\n3:\n4:\n5-B=2`)
  })

  it('is masked in a diff, whether it stays, comes or goes', async () => {
    const workdir = await open()
    const calls = [
      ['edit_file', { path: 'box', old_text: 'B=2', new_text: 'B=3' }],
      ['edit_file', { path: 'box', old_text: `KEY=${one}`, new_text: 'KEY=other' }],
      ['edit_file', { path: 'box', old_text: two, new_text: 'other\nlines' }],
      ['delete_file', { path: 'box' }],
      ['write_file', { path: 'other', content }],
    ] as const
    for (const [name, args] of calls) {
      const prepared = await toolOf(name).prepare(args, { workdir }, notAborted)
      invariant(prepared.type === 'ready' && prepared.preview.type === 'diff', `${name} is ready`)
      expect(prepared.preview.diff, name).toContain(keyMark)
      expect(prepared.preview.diff, name).not.toMatch(hasPart)
    }
  })

  it('is masked in the lines that an edit reports, and in its refusal', async () => {
    const workdir = await open()
    const args = { path: 'box', old_text: 'B=2', new_text: 'B=3' }
    const edited = await toolOf('edit_file').run(args, { workdir }, listen().run)
    expect(edited.output.text).toContain(`2\tKEY=${keyMark}\n3\t\n4\t\n5\tB=3`)
    const unlike = { path: 'box', old_text: `A=1\nKEY=${one}\n${two}\n${three}\nB=9`, new_text: 'x' }
    const refused = await toolOf('edit_file').prepare(unlike, { workdir }, notAborted)
    expect(refused).toMatchObject({ type: 'unusable', message: expect.stringContaining(keyMark) })
    expect(JSON.stringify(refused)).not.toMatch(hasPart)
  })

  it.each([1, 5, 1000])('is masked in what a command prints in pieces of %i bytes', async (size) => {
    const text = content.replace(/^/gm, 'some/file:12:')
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    const { run, shown, kept } = listen()
    const tool: Tool = {
      ...toolOf('shell'),
      async run(_args, _context, { show, storeOutput }) {
        for (const piece of pieces) show(piece)
        return { type: 'ok', output: await storeOutput(pieces.map((piece) => Buffer.from(piece))) }
      },
    }
    await maskedTool(tool).run({}, { workdir: '/' }, run)
    for (const printed of [shown.join(''), Buffer.concat(kept).toString('latin1')]) {
      expect(printed).toContain(keyMark)
      expect(printed).not.toMatch(hasPart)
    }
    expect(Buffer.concat(kept).toString('latin1').split('\n')).toHaveLength(text.split('\n').length)
  })
})

describe('the output of a masked tool', () => {
  it('contains no key of a file that is read', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, '.env'), `A=1\nKEY=${key}\n`)
    const result = await toolOf('read_file').run({ path: '.env' }, { workdir }, listen().run)
    expect(result.output.text).toBe(`1\tA=1\n2\tKEY=${keyMark}`)
  })

  it('contains no key that a command prints, and the command gets none', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, '.env'), key)
    const { run, shown, kept } = listen()
    const result = await toolOf('shell').run({ command: 'cat .env; env', timeout: 30 }, { workdir }, run)
    expect(result.output.text).toContain(keyMark)
    expect(result.output.text).toContain('LANG=C')
    expect(result.output.text).not.toMatch(/PLAIN|INSIDE|NAMED/)
    for (const text of [shown.join(''), Buffer.concat(kept).toString('latin1')]) expect(text).not.toContain(key)
  })

  it.each([1, 7, 33, 1000])('contains no key in base64 lines that arrive in pieces of %i bytes', async (size) => {
    const long = `made-wrap-${'X0'.repeat(28)}z`
    registerKey(long)
    const lines =
      Buffer.from(`BOX_KEY=${long}\n`)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    const pieces = `begin\n${lines.join('\n')}\nend`.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    const { run, shown, kept } = listen()
    const tool: Tool = {
      ...toolOf('shell'),
      async run(_args, _context, { show, storeOutput }) {
        for (const piece of pieces) show(piece)
        return { type: 'ok', output: await storeOutput(pieces.map((piece) => Buffer.from(piece))) }
      },
    }
    await maskedTool(tool).run({}, { workdir: '/' }, run)
    for (const text of [shown.join(''), Buffer.concat(kept).toString('latin1')]) {
      expect(text).toMatch(/^begin\n.*\[key removed\].*\nend$/s)
      expect(Buffer.from(text.slice(6, -4).replace(/\s|\[.*\]/g, ''), 'base64').toString('latin1')).not.toContain(
        'X0X0',
      )
    }
  })

  it.each([1, 7, 33, 1000])('contains no key that arrives in pieces of %i bytes, and all other bytes', async (size) => {
    const bytes = Buffer.concat([
      Buffer.from([0xff, 0x00, 0xc3]),
      Buffer.from(`é ${key}${key} made-tool-X0`),
      Buffer.from([0x80]),
    ])
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    )
    const { run, shown, kept } = listen()
    const tool: Tool = {
      ...toolOf('shell'),
      async run(_args, _context, { show, storeOutput }) {
        for (const piece of pieces) show(piece.toString('latin1'))
        return { type: 'ok', output: await storeOutput(pieces) }
      },
    }
    const result = await maskedTool(tool).run({}, { workdir: '/' }, run)
    const masked = bytes.toString('latin1').replaceAll(key, keyMark)
    expect([Buffer.concat(kept).toString('latin1'), result.output.text]).toEqual([masked, masked])
    // Live, up to four characters of a key are shown before it is known as one.
    expect(shown.join('').replaceAll(/(?<= |\])ma?d?e?(?=\[key removed\])/g, '')).toBe(masked)
  })

  it.each(['all tests\n', 'all tests', 'sk', 'more sk-\n'])(
    'is shown to its end, also if a key begins with it: %j',
    (text) => {
      registerKey(`sk-made-${'X0'.repeat(12)}`)
      const { run, shown } = listen()
      const { promise: goesOn } = Promise.withResolvers<never>()
      const tool: Tool = {
        ...toolOf('shell'),
        run: (_args, _context, { show }) => {
          show(text)
          return goesOn
        },
      }
      void maskedTool(tool).run({}, { workdir: '/' }, run)
      expect(shown.join('')).toBe(text)
    },
  )

  it('is shown once, if what looks like the start of a key goes on otherwise', async () => {
    const text = 'made-tool, mad, made-tool-X0X1, ma\n'
    const { run, shown } = listen()
    const tool: Tool = {
      ...toolOf('shell'),
      async run(_args, _context, { show }) {
        for (const char of text) show(char)
        return { type: 'ok', output: { text: '' } }
      },
    }
    await maskedTool(tool).run({}, { workdir: '/' }, run)
    expect(shown.join('')).toBe(text)
  })

  it('contains no key in a large blob, which is searched in several slices', async () => {
    const megabyte = 1024 ** 2
    const put = async (content: Buffer) => {
      const blobs: Buffer[] = []
      const store = async (bytes: Uint8Array) => {
        blobs.push(Buffer.from(bytes))
        return { hash: BlobHash.parse('0'.repeat(64)), bytes: bytes.length }
      }
      const tool: Tool = {
        ...toolOf('shell'),
        async run(_args, _context, { blobs }) {
          await blobs?.put(content)
          return { type: 'ok', output: { text: '' } }
        },
      }
      let [slices, isOver] = [0, false]
      const count = () => {
        slices++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      const given = { ...listen().run, blobs: { put: store, open: async () => expect.fail('nothing is opened') } }
      await maskedTool(tool).run({}, { workdir: '/' }, given)
      isOver = true
      return { slices, stored: blobs[0] }
    }
    const plain = Buffer.alloc(4 * megabyte, 'x')
    const { slices, stored } = await put(plain)
    expect(stored?.equals(plain)).toBe(true)
    expect(slices).toBeGreaterThanOrEqual(7)
    // A key at each end of each slice, whatever its size is.
    for (const at of [megabyte / 2 - 9, megabyte / 2, 2 * megabyte - key.length, 4 * megabyte - key.length]) {
      const content = Buffer.from(plain)
      content.write(key, at)
      expect((await put(content)).stored?.toString('latin1')).toBe(content.toString('latin1').replaceAll(key, keyMark))
    }
  })

  it('contains no part of two keys that overlap', async () => {
    const [short, long, round] = [`${key}-a`, `${key}-a-longer-9`, `ab9-${'Y1'.repeat(8)}-ab9-`]
    for (const one of [short, long, round]) registerKey(one)
    const { run, kept } = listen()
    const pieces = [short, `${long.slice(short.length)} `, round, `${round} ${short}`].map((text) => Buffer.from(text))
    const tool: Tool = {
      ...toolOf('shell'),
      run: async (_args, _context, { storeOutput }) => ({ type: 'ok', output: await storeOutput(pieces) }),
    }
    await maskedTool(tool).run({}, { workdir: '/' }, run)
    expect(Buffer.concat(kept).toString()).toBe(`${keyMark} ${keyMark}${keyMark} ${keyMark}`)
  })

  it('contains no key in a thrown error', async () => {
    const tool: Tool = { ...toolOf('shell'), run: () => Promise.reject(new Error(`broke on ${key}`)) }
    const broken = maskedTool(tool).run({}, { workdir: '/' }, listen().run)
    await expect(broken).rejects.toThrow(`broke on ${keyMark}`)
  })

  it('contains no key in a preview, and arguments stay unchanged', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, '.env'), `A=1\nKEY=${key}\n`)
    const args = { path: '.env', old_text: 'A=1', new_text: 'A=2' }
    const prepared = await toolOf('edit_file').prepare(args, { workdir }, notAborted)
    expect(prepared).toMatchObject({ type: 'ready', args, preview: { diff: expect.stringContaining(keyMark) } })
    expect(JSON.stringify(prepared)).not.toContain(key)
  })

  it('never overwrites a key with its mask', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, '.env'), `A=1\nKEY=${key}\n`)
    const tool = toolOf('write_file')
    const prepared = await tool.prepare({ path: '.env', content: `A=2\nKEY=${keyMark}\n` }, { workdir }, notAborted)
    expect(prepared).toMatchObject({ type: 'unusable', message: expect.stringContaining('use edit_file') })
    expect(await tool.prepare({ path: 'other', content: keyMark }, { workdir }, notAborted)).toMatchObject({
      type: 'ready',
    })
    expect(await readFile(join(workdir, '.env'), 'utf8')).toContain(key)
  })
})
