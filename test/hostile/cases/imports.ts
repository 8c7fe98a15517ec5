import { ask, check } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'

const megabyte = 1024 ** 2

async function importBytes({ server }: CaseRun, name: string, text: string): Promise<readonly string[]> {
  const answer = await ask(server, `/import?name=${name}`, { bytes: new TextEncoder().encode(text) })
  return check('POST /import', answer, [200, 400, 413, 422])
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** A Claude Code session with `count` messages of one character. */
function* tinyMessages(count: number): Generator<string> {
  for (let each = 0; each < count; each++) {
    const parentUuid = each === 0 ? null : `m${each - 1}`
    const role = each % 2 === 0 ? 'user' : 'assistant'
    yield line({ type: role, uuid: `m${each}`, parentUuid, sessionId: 's', message: { role, content: 'x' } })
  }
}

const manyMessages: HostileCase = {
  name: 'many-messages',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 20_000 : 500_000
    const violations = await importBytes(run, 'tiny.jsonl', [...tinyMessages(count)].join(''))
    return { did: `imported ${count} messages of one character`, violations }
  },
}

/** A line that is torn in the middle of very deep JSON: every inner object is a candidate for the start of a record. */
const tornLine: HostileCase = {
  name: 'torn-line',
  from: 'import',
  async run(run) {
    const size = (run.isQuick ? 4 : 58) * megabyte
    const head = [...tinyMessages(2)].join('')
    const torn = '{"type":"user","message":{"content":['.concat('{"a":['.repeat(size / 6))
    const violations = await importBytes(run, 'torn.jsonl', `${head}${torn}\n`)
    return { did: `imported a torn line of ${size} bytes`, violations }
  },
}

/** A ggcode session that repeats its whole history in every checkpoint. */
const checkpoints: HostileCase = {
  name: 'checkpoints',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 200 : 2_000
    const text = 'c'.repeat(16 * 1024)
    const lines = [line({ type: 'session', version: 1, id: 's', timestamp: '2026-01-02T03:04:05Z', cwd: '/work' })]
    for (let each = 0; each < count; each++) {
      lines.push(line({ type: 'message', id: `m${each}`, message: { role: 'user', content: `q${each}` } }))
      lines.push(
        line({ type: 'checkpoint', id: `c${each}`, summary: text, messages: [{ role: 'user', content: text }] }),
      )
    }
    const violations = await importBytes(run, 'checkpoints.jsonl', lines.join(''))
    return { did: `imported ${count} checkpoints of 16 KB`, violations }
  },
}

/** Files that name folders nobody should work in. */
const foreignFolders: HostileCase = {
  name: 'foreign-folders',
  from: 'import',
  async run(run) {
    const violations: string[] = []
    for (const cwd of ['/', '/etc', process.env['HOME'] ?? '/root', '../..', '.']) {
      const at = { timestamp: '2026-01-02T03:04:05Z', sessionId: `folder-${cwd}`, cwd }
      const message = { role: 'user', content: 'q' }
      const text = line({ type: 'user', uuid: 'm0', parentUuid: null, message, ...at })
      violations.push(...(await importBytes(run, 'folder.jsonl', text)))
    }
    const listed = JSON.parse((await ask(run.server, '/sessions?limit=50')).text)
    for (const { handle, workdir } of listed.sessions)
      if (['/', '/etc', process.env['HOME']].includes(workdir)) violations.push(`${handle} works in ${workdir}`)
    return { did: 'imported sessions of system folders', violations }
  },
}

export const importCases: readonly HostileCase[] = [manyMessages, tornLine, checkpoints, foreignFolders]
