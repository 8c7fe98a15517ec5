import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startPostgres } from '@holdfast/testkit/postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, type CliProcess, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { canRun, runShell } from './run-shell.ts'

const root = resolve(import.meta.dirname, '../..')
const token = 'a-secret-of-the-test-for-the-pages'

/** Returns the blocks of shell commands of a document, in order. A block without a language is one too, if it is no output. */
function blocksOf(page: string): readonly string[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language = '', block = '']) =>
    language === 'sh' || (language === '' && !/^\w+: /m.test(block)) ? [block] : [],
  )
}

const hasCurl = canRun('curl') && canRun('bash')
// Written directly, because a test runner may hide output, and a skipped test must not look like a passed one.
if (!hasCurl) writeSync(2, '\nNOT RUN: the commands of docs/service.md and docs/http.md: they need bash and curl.\n')

let base = ''
let cli: Cli
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hf-services-')))
  cli = createCli()
})
afterEach(() => {
  cli[Symbol.dispose]()
  rmSync(base, { recursive: true, force: true })
})

describe.skipIf(!hasCurl)('docs/service.md', () => {
  it('has commands that install the unit, and that name files and images which there are', async () => {
    const [person, clone, programs] = [join(base, 'person'), join(base, 'clone'), join(base, 'programs')]
    for (const folder of [person, clone, programs]) mkdirSync(folder)
    cpSync(join(root, 'deploy'), join(clone, 'deploy'), { recursive: true })
    // Of the system, only what it is asked to do is recorded: a test must not change the services of a machine.
    for (const name of ['systemctl', 'loginctl', 'podman']) {
      writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >> "$ASKED"\n`)
      chmodSync(join(programs, name), 0o755)
    }
    const blocks = blocksOf('service.md')
    expect(blocks).toHaveLength(2)
    const asked = join(base, 'asked')
    const env = { HOME: person, PATH: `${programs}:${process.env['PATH']}`, ASKED: asked }
    await runShell(blocks.join('\n'), clone, env)

    const unit = readFileSync(join(person, '.config/systemd/user/holdfast.service'), 'utf8')
    expect(unit).toBe(readFileSync(join(root, 'deploy/holdfast.service'), 'utf8'))
    const environment = /^EnvironmentFile=-%h\/(.+)$/m.exec(unit)?.[1] ?? 'none'
    expect(statSync(join(person, environment)).mode & 0o777).toBe(0o600)
    const [enable, linger, build = '', run = '', ...more] = readFileSync(asked, 'utf8').trim().split('\n')
    expect([enable, linger, more]).toEqual(['systemctl --user enable --now holdfast', 'loginctl enable-linger', []])
    const [, file = '', image = ''] = /^podman build -f (\S+) -t (\S+) \.$/.exec(build) ?? []
    const container = readFileSync(join(clone, file), 'utf8')
    expect(run.endsWith(` ${image}`)).toBe(true)
    const [, , , inner] = / -p (\S+):(\d+):(\d+) /.exec(run) ?? []
    expect(container).toContain(`\nEXPOSE ${inner}\n`)
    for (const [, at = ''] of run.matchAll(/ -v [^: ]+:(\S+)/g))
      expect([at, JSON.parse(/^VOLUME (.*)$/m.exec(container)?.[1] ?? '[]')]).toEqual([
        at,
        expect.arrayContaining([`/${at.split('/')[1]}`]),
      ])
  })
})

describe('docs/network.md', () => {
  it('has commands that work, with any free port', async () => {
    const lines = blocksOf('network.md')
      .join('')
      .split('\n')
      .filter((line) => line !== '')
    expect(lines.length).toBeGreaterThanOrEqual(3)
    for (const line of lines) {
      const [program, command = '', ...words] = line.split(' ')
      expect([line, program]).toEqual([line, 'holdfast'])
      if (command !== 'serve') expect([line, (await cli.run([command, ...words])).code]).toEqual([line, 0])
      else await serve([...words], async (link) => expect((await fetch(link, { redirect: 'manual' })).status).toBe(303))
    }
  })

  it('says which address links of a server behind a proxy have', async () => {
    const line = blocksOf('network.md').find((block) => block.includes('--public-url')) ?? ''
    const [, , ...words] = line.trim().split(' ')
    const origin = words[words.indexOf('--public-url') + 1]
    await serve(words, async () => {
      expect(JSON.parse((await cli.run(['login', '--json'])).stdout).networkLink).toMatch(`${origin}/login?code=`)
    })
  })
})

describe('docs/cluster.md and docs/retention.md', () => {
  it('have commands that start nodes on PostgreSQL', async () => {
    const lines = ['cluster.md', 'retention.md']
      .flatMap((page) => blocksOf(page).join('').split('\n'))
      .filter((line) => line.startsWith('holdfast serve '))
    expect(lines).toHaveLength(3)
    const database = await startPostgres()
    const store = `${database.url('documented')}&durability=unchecked`
    try {
      for (const line of lines) {
        // What a reader writes in place of the examples.
        const [, , ...words] = line
          .replace('http://10.0.0.7:4821', 'http://127.0.0.1:0')
          .replace('/srv/projects', cli.workdir)
          .replace("'postgres://holdfast:PASSWORD@db.example/holdfast'", store)
          .split(' ')
        const environment = { HOLDFAST_TOKEN: token, ...(!words.includes('--store') && { HOLDFAST_STORE: store }) }
        const told = await serve(
          words,
          async (link) => {
            const ready = await fetch(new URL('/v1/ready', link))
            expect([line, ready.status]).toEqual([line, 200])
          },
          environment,
        )
        expect(told).toMatch(
          /^Other nodes of its store reach it at http:\/\/127\.0\.0\.1:\d+, which only this machine can\./m,
        )
      }
    } finally {
      await database.close()
    }
  })
})

describe.skipIf(!hasCurl)('docs/http.md', () => {
  let server: CliProcess
  let url = ''
  beforeEach(async () => {
    server = cli.start(['serve', '--port', '0'], { environment: { HOLDFAST_TOKEN: token } })
    ;[url = ''] = await server.until('stderr', /http:\S+/)
  })
  afterEach(async () => {
    server.kill('SIGTERM')
    await server.ended
  })

  const startSession = async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/v1/sessions`, { method: 'POST', headers, body: `{"workdir":"${cli.workdir}"}` })
    return ((await answer.json()) as { readonly session: { readonly id: string } }).session.id // as the server sends it
  }

  it('has commands that the server answers', { timeout: 60_000 }, async () => {
    const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    writeFileSync(join(base, 'plan.png'), Buffer.from(image, 'base64'))
    const [deleted, followed] = [await startSession(), await startSession()]
    // What a reader writes in place of the examples. A stream has no end, so it is read in the background.
    const generator = join(root, 'test/generated-client/node_modules/openapi-typescript/bin/cli.js')
    const steps: readonly (readonly [block: RegExp, text: (block: string) => string, prints: RegExp])[] = [
      [
        /openapi-typescript/,
        (block) => block.replace('npx openapi-typescript', `'${process.execPath}' '${generator}'`),
        /holdfast-api\.ts/,
      ],
      [/"workdir"/, (block) => block.replace('/home/me/project', cli.workdir), /"id":"ses_/],
      [/plan\.png/, (block) => block, /"mediaType":"image\/png"/],
      [/v1\/search/, (block) => block, /"hits":\[\]/],
      [/-X DELETE/, (block) => block.replace('calm-harbor-12', deleted), /"dryRun":true/],
      [
        /v1\/stream/,
        (block) =>
          block
            .replace(/^(curl -N .*)$/m, `$1 > stream & reader=$!\n${waitForId}`)
            .replace('calm-harbor-12', followed)
            .replace('ses_…', followed)
            .concat('kill $reader\n'),
        /./,
      ],
    ]
    const blocks = blocksOf('http.md')
    expect(blocks).toHaveLength(steps.length)
    for (const [index, [named, change, prints]] of steps.entries()) {
      const block = blocks[index] ?? ''
      expect(block).toMatch(named)
      const script = change(block).replaceAll('http://127.0.0.1:4820', url)
      const { out, err } = await runShell(script, base, { TOKEN: token })
      const printed = out + err
      expect([block, printed]).toEqual([block, expect.stringMatching(prints)])
      expect([block, printed]).toEqual([block, expect.not.stringContaining('"error"')])
    }
    expect(readFileSync(join(base, 'holdfast-api.ts'), 'utf8')).toContain('"/v1/sessions"')
    expect(readFileSync(join(base, 'stream'), 'utf8')).toContain('event: ')
  })
})

/** Runs a server while `work` uses the link that it prints. Returns what else it said. */
async function serve(
  words: readonly string[],
  work: (link: string) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const server = cli.start(['serve', ...words, '--port', '0'], { environment })
  const [link] = await server.until('stdout', /^http:\S+\/login\?code=\S+/)
  await work(link)
  server.kill('SIGTERM')
  const { code, stderr } = await server.ended
  expect(code).toBe(0)
  return stderr
}

/** Waits for the first event of the stream, which names it. */
const waitForId = `until ID=$(grep -o '"stream":"[^"]*"' stream | cut -d'"' -f4 | head -n 1) && test -n "$ID"; do
  kill -0 $reader
done`
