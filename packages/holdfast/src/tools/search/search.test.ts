import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ToolArgs } from '@holdfast/core/ports'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createFind } from './find.ts'
import { createGrep } from './grep.ts'

async function openTree(files: { readonly [path: string]: string }) {
  const { workdir, beside } = await openWorkdir()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(workdir, path)), { recursive: true })
    await writeFile(join(workdir, path), content)
  }
  const deps = { environment: process.env, ownPaths: [join(workdir, 'home/holdfast')] }
  const [find, grep] = [createFind(deps), createGrep(deps)]
  const textOf = async (tool: typeof find, args: ToolArgs, signal = notAborted) => {
    const { output, type } = await tool.run(args, { workdir }, createToolRun({ signal }).run)
    return type === 'ok' ? output.text : `failed: ${output.text}`
  }
  return {
    workdir,
    beside,
    deps,
    find: (args: ToolArgs, signal?: AbortSignal) => textOf(find, args, signal),
    grep: (args: ToolArgs, signal?: AbortSignal) => textOf(grep, args, signal),
  }
}

const tree = {
  'src/a.ts': 'one foo\ntwo\nthree\nfour\nfive foo\n',
  'src/deep/b.ts': 'foo\n',
  'src/c.log': 'foo\n',
  '.github/w.yml': 'foo\n',
  'node_modules/x/i.ts': 'foo\n',
  '.gitignore': '*.log\nnode_modules/\n',
  '.git/config': 'foo\n',
  '.holdfast/hooks.json': 'foo\n',
  'home/holdfast/token': 'foo\n',
}

describe('find', () => {
  it('lists files by a glob, sorted, without ignored and hidden ones', async () => {
    const { find } = await openTree(tree)
    expect(await find({ pattern: '*.ts' })).toBe('src/a.ts\nsrc/deep/b.ts')
    expect(await find({ pattern: 'src/*.ts' })).toBe('src/a.ts')
    expect(await find({ pattern: '*.ts', path: 'src/deep' })).toBe('src/deep/b.ts')
    expect(await find({ pattern: '*', max_depth: 1 })).toContain('nothing matches')
  })

  it('finds hidden and ignored files if asked, but neither .git nor the files of Holdfast', async () => {
    const { find } = await openTree(tree)
    expect(await find({ pattern: '*', hidden: true, ignored: true })).toBe(
      '.github/w.yml\n.gitignore\nnode_modules/x/i.ts\nsrc/a.ts\nsrc/c.log\nsrc/deep/b.ts',
    )
    expect(await find({ pattern: '.git*' })).toBe('.gitignore')
    expect(await find({ pattern: '*', path: '.git' })).toMatch(/^failed: bad_request: \.git is not searched by find/)
    for (const path of ['.holdfast', 'home/holdfast', 'home/holdfast/token'])
      expect(await find({ pattern: '*', path })).toMatch(/^failed: bad_request: .* belongs to Holdfast/)
  })

  it('says when only ignored or hidden files match', async () => {
    const { find, grep } = await openTree(tree)
    expect(await find({ pattern: '*.log' })).toBe(
      '[nothing matches *.log; but files match that .gitignore or a leading dot leaves out; set hidden: true or ignored: true to see them]',
    )
    expect(await find({ pattern: '*.none' })).toBe('[nothing matches *.none]')
    expect(await grep({ pattern: 'foo', glob: '*.log' })).toContain('no match; but files match that .gitignore')
    expect(await grep({ pattern: 'nowhere' })).toBe('[no match]')
  })

  it.each([
    '*.ts',
    'src/*',
    'src/**',
    '**/b.*',
    '/src/a.ts',
    './src/a.ts',
    '[a-b].ts',
    '{src,x}/{a,deep/b}.ts',
    'SRC/*',
    '/a.ts',
  ])('matches files by %s as it matches directories', async (pattern) => {
    const { find } = await openTree(tree)
    const any = await find({ pattern, type: 'any' })
    const files = any.split('\n').filter((line) => !line.endsWith('/'))
    expect(await find({ pattern })).toBe(files.join('\n'))
  })

  it('finds directories that hold a file', async () => {
    const { find } = await openTree(tree)
    expect(await find({ pattern: '*', type: 'directory' })).toBe('src/\nsrc/deep/')
    expect(await find({ pattern: 'src/*', type: 'any' })).toBe('src/a.ts\nsrc/deep/')
  })

  it('returns pages that fit together', async () => {
    const { find } = await openTree(Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`${n + 10}.txt`, ''])))
    const first = await find({ pattern: '*.txt', limit: 10 })
    expect(first.split('\n').slice(-2)).toEqual(['19.txt', '[1 to 10 of 25; continue with offset 10]'])
    expect(await find({ pattern: '*.txt', limit: 10, offset: 20 })).toBe('30.txt\n31.txt\n32.txt\n33.txt\n34.txt')
    expect(await find({ pattern: '*.txt', offset: 30 })).toBe('[offset 30 is past the end: 25 paths match]')
  })
})

describe('grep', () => {
  it('shows the lines below their file, with context', async () => {
    const { grep } = await openTree(tree)
    expect(await grep({ pattern: 'foo+' })).toBe('src/a.ts\n1:one foo\n5:five foo\n\nsrc/deep/b.ts\n1:foo')
    expect(await grep({ pattern: 'foo', path: 'src/a.ts', context_lines: 1 })).toBe(
      'src/a.ts\n1:one foo\n2-two\n--\n4-four\n5:five foo',
    )
    expect(await grep({ pattern: 'FOO' })).toBe('[no match]')
    expect(await grep({ pattern: 'FOO', case_sensitive: false, mode: 'count' })).toBe('src/a.ts: 2\nsrc/deep/b.ts: 1')
    expect(await grep({ pattern: 'foo', mode: 'files', path: 'src' })).toBe('src/a.ts\nsrc/deep/b.ts')
  })

  it('searches only files that match a glob, and no ignored ones', async () => {
    const { grep } = await openTree(tree)
    expect(await grep({ pattern: 'foo', glob: 'deep/*.{ts,log}', path: 'src', mode: 'files' })).toBe('src/deep/b.ts')
    expect(await grep({ pattern: 'foo', glob: '*.{ts,log}', mode: 'files' })).toBe('src/a.ts\nsrc/deep/b.ts')
    expect(await grep({ pattern: 'foo', glob: '*.{ts,log}', mode: 'files', ignored: true })).toContain('src/c.log')
    expect(await grep({ pattern: 'foo', glob: '.github/*', mode: 'files' })).toBe('.github/w.yml')
  })

  it('takes no pattern and no path for a flag', async () => {
    const { grep, workdir } = await openTree({ '--pre=x': 'foo\n', 'a.txt': '--pre=./run\n' })
    await writeFile(join(workdir, 'run'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
    expect(await grep({ pattern: '--pre=./run' })).toBe('a.txt\n1:--pre=./run')
    expect(await grep({ pattern: 'foo', path: '--pre=x' })).toBe('--pre=x\n1:foo')
    expect(await grep({ pattern: 'a(', literal: true })).toBe('[no match]')
  })

  it("shows ripgrep's words on a bad pattern", async () => {
    const { grep } = await openTree(tree)
    expect(await grep({ pattern: 'a(' })).toMatch(
      /^failed: bad_request: ripgrep refused the search: [\s\S]*unclosed group/,
    )
  })

  it('returns pages that fit together, and says where to continue', async () => {
    const { grep } = await openTree({ 'a.txt': 'x\n'.repeat(30), 'b.txt': 'x\n' })
    expect((await grep({ pattern: 'x', limit: 10 })).split('\n').at(-1)).toBe(
      '[1 to 10 of 31; continue with offset 10]',
    )
    expect(await grep({ pattern: 'x', limit: 10, offset: 29 })).toBe('a.txt\n30:x\n\nb.txt\n1:x')
  })

  it('ends a search with too many matches, and cuts long lines', async () => {
    const { grep } = await openTree({ 'many.txt': 'x\n'.repeat(20_000), 'more.txt': 'x\n'.repeat(20_000) })
    expect((await grep({ pattern: 'x', limit: 1 })).split('\n').at(-1)).toMatch(/^\[stopped at 10000 matches; narrow/)
    const long = await openTree({ 'long.txt': `${'y'.repeat(100_000)}x\n` })
    expect((await long.grep({ pattern: 'x' })).length).toBeLessThan(600)
  })

  it('reads names with line feeds, line ends of Windows and binary files', async () => {
    const files = { 'a\nb.txt': 'foo\r\n', 'bin.dat': `foo\n${'z'.repeat(100_000)}\n\0\nfoo\n`, 'z.txt': 'foo\n' }
    const { grep } = await openTree(files)
    expect(await grep({ pattern: 'foo' })).toBe('a\\nb.txt\n1:foo\n\nbin.dat\n1:foo\n\nz.txt\n1:foo')
  })
})

describe('a search', () => {
  it('never leaves the working directory', async () => {
    const { workdir, beside, find, grep } = await openTree(tree)
    await mkdir(join(beside, 'work-evil'))
    await writeFile(join(beside, 'work-evil/secret.ts'), 'foo secret\n')
    await symlink(join(beside, 'work-evil'), join(workdir, 'link'))
    await symlink(join(beside, 'work-evil/secret.ts'), join(workdir, 'link.ts'))
    await promisify(execFile)('mkfifo', [join(workdir, 'pipe.ts')])
    expect(await grep({ pattern: 'secret' })).toBe('[no match]')
    expect(await find({ pattern: 'secret.ts' })).toBe('[nothing matches secret.ts]')
    for (const path of ['link', 'link.ts', '..', '../work-evil', '/etc'])
      for (const search of [find, grep])
        expect(await search({ pattern: 'secret', path })).toMatch(/^failed: outside_workdir/)
    expect(await grep({ pattern: 'x', path: 'pipe.ts' })).toMatch(/^failed: bad_request: .* not a regular file/)
  })

  it('ends at an abort', async () => {
    const { grep, find } = await openTree(tree)
    const controller = new AbortController()
    const searches = [grep({ pattern: 'foo' }, controller.signal), find({ pattern: '*' }, controller.signal)]
    controller.abort()
    for (const search of searches) expect(await search).toBe('failed: aborted')
  })

  it('calls an abort that, also after the start of the call is recorded', async () => {
    const { workdir, deps } = await openTree(tree)
    const controller = new AbortController()
    for (const tool of [createFind(deps), createGrep(deps)]) {
      const begin = async () => void queueMicrotask(() => queueMicrotask(() => controller.abort()))
      const { run } = createToolRun({ signal: AbortSignal.any([controller.signal]), begin })
      expect(await tool.run({ pattern: 'foo' }, { workdir }, run)).toEqual({
        type: 'failed',
        output: { text: 'aborted' },
      })
    }
  })

  it('searches no folder of Holdfast that a file system may take for it', async () => {
    const { grep, find } = await openTree({ '.Holdfast/hooks.json': 'foo\n' })
    for (const search of [grep, find])
      expect(await search({ pattern: 'foo', path: '.Holdfast' })).toMatch(
        /^failed: bad_request: .* belongs to Holdfast/,
      )
  })

  it('refuses what does not exist', async () => {
    const { grep, find } = await openTree({})
    expect(await grep({ pattern: 'x', path: 'no' })).toBe('failed: not_found: no does not exist')
    expect(await find({ pattern: 'x', path: 'no' })).toBe('failed: not_found: no does not exist')
  })
})
