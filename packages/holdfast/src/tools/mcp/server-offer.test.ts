import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { offerServer } from './server-offer.ts'

let workspace = ''
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'holdfast-offer-'))
})
afterEach(() => rm(workspace, { recursive: true }))

const offer = (command: string, ...args: string[]) =>
  offerServer(workspace, {
    name: 'theirs',
    from: 'workspace',
    isOff: false,
    file: join(workspace, '.mcp.json'),
    connect: { type: 'stdio', command, args, env: {} },
  })
const write = async (path: string, text: string) => {
  await mkdir(dirname(join(workspace, path)), { recursive: true })
  await writeFile(join(workspace, path), text)
}

describe('the trust in a server of a workspace', () => {
  it.each([
    ['server.mjs', ['node', 'server.mjs']],
    ['server.mjs', ['node', './server.mjs']],
    ['start.js', ['node', 'start']],
    ['bin/index.js', ['node', 'bin']],
    ['bin/index.js', ['node', '--import=./bin/index.js', 'x']],
    ['hid.mjs', ['node', `\${NOPE:-./hid.mjs}`]],
    ['package.json', ['npm', 'run', 'mcp']],
    ['.npmrc', ['npx', '-y', 'server']],
    ['Makefile', ['make', 'server']],
  ])('covers %s of %j, and shows it', async (path, [command = '', ...args]) => {
    await write(path, 'the first text')
    const before = await offer(command, ...args)
    expect(before.text).toContain('the first text')
    await write(path, 'the other text')
    expect((await offer(command, ...args)).hash).not.toBe(before.hash)
  })

  it('covers a file that one of its variables names', async () => {
    await write('hook.cjs', 'the first text')
    const connect = { type: 'stdio', command: 'node', args: ['-e', '0'] } as const
    const named = { name: 'theirs', from: 'workspace', isOff: false, file: join(workspace, '.mcp.json') } as const
    const withEnv = () =>
      offerServer(workspace, { ...named, connect: { ...connect, env: { NODE_OPTIONS: '--require ./hook.cjs' } } })
    const before = await withEnv()
    expect(before.text).toContain('the first text')
    await write('hook.cjs', 'the other text')
    expect((await withEnv()).hash).not.toBe(before.hash)
  })

  it('says if it covers no file, and covers none outside', async () => {
    expect((await offer('uvx', 'server')).text).toContain('no file of the workspace that it may run')
    expect((await offer('node', '../../etc/hostname')).text).toContain('no file of the workspace that it may run')
  })
})
