import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServerProcess, startServerProcess } from './server-process.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const client = join(root, 'test/generated-client')

let folder = ''
let build = ''
let server: ServerProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-generated-'))
  // Beside the program, so that the generated client finds its libraries. Git ignores it.
  build = await mkdtemp(join(client, 'build-'))
  await mkdir(join(folder, 'work'))
  server = await startServerProcess({ home: join(folder, 'home') })
})
afterAll(async () => {
  await server?.stop()
  for (const made of [folder, build]) await rm(made, { recursive: true, force: true })
})

const strict = {
  target: 'esnext',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  types: ['node'],
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
}

it('a client that openapi-typescript generates compiles, and works with a session from its start to its export', async () => {
  const answer = await fetch(`${server.url}/v1/openapi.json`, { headers: { authorization: `Bearer ${server.token}` } })
  await writeFile(join(build, 'openapi.json'), await answer.text())
  const generator = join(client, 'node_modules/openapi-typescript/bin/cli.js')
  await run(process.execPath, [generator, join(build, 'openapi.json'), '-o', join(build, 'generated-api.ts')])
  await cp(join(client, 'program.ts'), join(build, 'program.ts'))
  await writeFile(join(build, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include: ['*.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const compiled = await run(process.execPath, [tsc, '-p', build]).catch((error) => error)
  expect(compiled.stdout).toBe('')

  const env = { ...process.env, HOLDFAST_URL: server.url, HOLDFAST_TOKEN: server.token, WORKDIR: join(folder, 'work') }
  const { stdout } = await run(process.execPath, [join(build, 'program.ts')], { env })
  expect(JSON.parse(stdout)).toEqual({
    status: 'ok',
    role: 'driver',
    seq: expect.any(Number),
    approved: 'write_file',
    ended: 'done',
    left: 204,
    code: 'session_not_found',
    requestId: true,
    exported: true,
    listed: [true],
    kinds: expect.arrayContaining(['user', 'tool_call', 'assistant']),
  })
  expect(await readFile(join(folder, 'work/hello.txt'), 'utf8')).toContain('hello from a generated client')
})
