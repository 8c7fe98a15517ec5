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
    const count = run.isQuick ? 20_000 : 500_000 // more are larger than an upload may be
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

/** One answer of very many parts, after a first line that is longer than the beginning of a file that is looked at. */
const manyParts: HostileCase = {
  name: 'many-parts',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 30_000 : 700_000
    const about = { sessionId: 's', timestamp: '2026-01-02T03:04:05Z' }
    const question = { role: 'user', content: `q ${'x'.repeat(3 * megabyte)}` }
    const answer = { role: 'assistant', content: Array.from({ length: count }, () => ({ type: 'text', text: 'x' })) }
    const text = [
      line({ type: 'user', uuid: 'm0', parentUuid: null, message: question, ...about }),
      line({ type: 'assistant', uuid: 'm1', parentUuid: 'm0', message: answer, ...about }),
    ]
    const violations = await importBytes(run, 'parts.jsonl', text.join(''))
    return { did: `imported an answer of ${count} parts`, violations }
  },
}

/** A ggcode session with as many checkpoints as messages: some name their summary, the others repeat the last messages. */
const checkpoints: HostileCase = {
  name: 'checkpoints',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 1000 : 30_000
    const about = { session_id: 's', timestamp: '2026-01-02T03:04:05Z' }
    const message = (role: string, text: string, id?: string) => ({ id, role, content: [{ type: 'text', text }] })
    const summary = message('system', `[Previous conversation summary] ${'c'.repeat(64 * 1024)}`, 'summary')
    const lines = [line({ type: 'message', ...about, message: summary })]
    for (let each = 0; each < count; each++) {
      lines.push(line({ type: 'message', ...about, message: message('user', `q${each}`, `m${each}`) }))
      const names = { checkpoint_summary_msg_id: 'summary', checkpoint_last_msg_id: `m${each}` }
      const copy = { checkpoint_messages: [message('system', 'c'.repeat(1000)), message('user', `q${each}`)] }
      lines.push(line({ type: 'checkpoint', ...about, ...(each % 2 === 0 ? names : copy) }))
    }
    const answer = await ask(run.server, '/import?name=checkpoints.jsonl', {
      bytes: new TextEncoder().encode(lines.join('')),
    })
    const { format } = JSON.parse(answer.text).files?.[0] ?? {}
    const violations = [...check('POST /import', answer, [200])]
    if (format !== 'ggcode') violations.push(`the file was read as ${format}`)
    return { did: `imported ${count} checkpoints`, violations }
  },
}

/** Files that name folders no session should work in. */
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
    const imported = listed.sessions.filter(({ messageCount }: { messageCount: number }) => messageCount === 1)
    if (imported.length < 5) violations.push(`only ${imported.length} sessions were imported`)
    for (const { id, handle, workspace } of imported) {
      if (workspace !== '') violations.push(`${handle} works in ${workspace}`)
      const body = { type: 'sendPrompt', content: 'go on', commandId: `prompt-${id}` }
      const answer = await ask(run.server, `/sessions/${id}/commands`, { body })
      violations.push(...check('sendPrompt without a folder', answer, [409]))
    }
    return { did: 'imported sessions of system folders', violations }
  },
}

export const importCases: readonly HostileCase[] = [manyMessages, tornLine, manyParts, checkpoints, foreignFolders]
