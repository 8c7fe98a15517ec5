import { ImportAnswer, limits } from '@holdfast/protocol'
import { ask, check, countStatuses, type HttpAnswer } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'

const megabyte = 1024 ** 2

type ImportedFile = ImportAnswer['files'][number]
type Imported = { readonly file: ImportedFile | null; readonly violations: readonly string[] }

/** Imports a file that must be accepted, and checks that its session is listed. */
async function importBytes({ server }: CaseRun, name: string, text: string): Promise<Imported> {
  const answer = await ask(server, `/import?name=${name}`, { bytes: new TextEncoder().encode(text) })
  const violations = check('POST /import', answer, [200])
  if (violations.length > 0) return { file: null, violations }
  const [file = null] = ImportAnswer.parse(JSON.parse(answer.text)).files
  if (!file?.session) return { file, violations: [`not imported: ${answer.text.slice(0, 200)}`] }
  const listed = await ask(server, '/sessions?limit=50')
  return { file, violations: listed.text.includes(file.session) ? [] : [`${file.session} is not listed`] }
}

const checkCount = (file: ImportedFile | null, count: number): readonly string[] =>
  file?.messages === count ? [] : [`${file?.messages} of ${count} messages were imported`]

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** A Claude Code session with `count` messages of one character. */
function* tinyMessages(count: number, sessionId = 's'): Generator<string> {
  for (let each = 0; each < count; each++) {
    const parentUuid = each === 0 ? null : `m${each - 1}`
    const role = each % 2 === 0 ? 'user' : 'assistant'
    yield line({ type: role, uuid: `m${each}`, parentUuid, sessionId, message: { role, content: 'x' } })
  }
}

const manyMessages: HostileCase = {
  name: 'many-messages',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 8000 : 500_000 // more are larger than an upload may be
    const { file, violations } = await importBytes(run, 'tiny.jsonl', [...tinyMessages(count)].join(''))
    return {
      did: `imported ${file?.messages ?? 0} messages of one character`,
      violations: [...violations, ...checkCount(file, count)],
    }
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
    const { file, violations } = await importBytes(run, 'torn.jsonl', `${head}${torn}\n`)
    const isTold = file?.remarks.some(({ line }) => line === 3) ?? false
    return {
      did: `imported ${file?.messages ?? 0} messages before a torn line of ${size} bytes`,
      violations: [
        ...violations,
        ...checkCount(file, 2),
        ...(isTold ? [] : [`nothing is said of the torn line: ${JSON.stringify(file)}`]),
      ],
    }
  },
}

/** One message of tens of megabytes, which every page, export, stream and request would hold whole. */
const longMessage: HostileCase = {
  name: 'long-message',
  from: 'import',
  async run(run) {
    const size = (run.isQuick ? 2 : 55) * megabyte
    const texts = ['a', 'a@b.c ']
    const violations: string[] = []
    for (const [index, text] of texts.entries()) {
      const said = (uuid: string, parentUuid: string | null, role: string, content: string) =>
        line({ type: role, uuid, parentUuid, sessionId: `long${index}`, message: { role, content } })
      const long = `go ${text.repeat(size / text.length)}`
      const source = said('m0', null, 'user', long) + said('m1', 'm0', 'assistant', 'yes')
      const { file, violations: found } = await importBytes(run, 'long.jsonl', source)
      violations.push(...found)
      if (!file?.remarks.some(({ code }) => code === 'text_split'))
        violations.push(`nothing is said of the text that was split: ${JSON.stringify(file).slice(0, 200)}`)
      const path = `/sessions/${file?.session}`
      for (const use of ['', '/messages', '/export?format=jsonl&redact=true', '/export?format=md&redact=true'])
        violations.push(...check(`GET ${use}`, await ask(run.server, `${path}${use}`), [200]))
    }
    return { did: `imported, read and exported ${texts.length} messages of ${size} characters`, violations }
  },
}

/** Files that are small in bytes and take very much memory once they are parsed. */
const deepFiles: HostileCase = {
  name: 'deep-files',
  from: 'import',
  async run(run) {
    const size = (run.isQuick ? 1 : 58) * megabyte
    const violations: string[] = []
    for (const unit of ['[', '{"a":', '[],', '{"messages":['])
      for (const name of ['c.json', 'c.jsonl']) {
        const text = `${unit === '[],' ? '[' : ''}${unit.repeat(size / unit.length)}`
        const answer = await ask(run.server, `/import?name=${name}`, { bytes: new TextEncoder().encode(text) })
        violations.push(...check(`POST /import of ${unit}`, answer, [400, 413]))
      }
    return { did: `imported files of ${size} bytes that are nested or have very many values`, violations }
  },
}

const countPieces = (chars: number): number => Math.ceil(chars / limits.importedTextCharsMax)

/** One answer of very many parts, after a first line that is longer than the beginning of a file that is looked at. */
const manyParts: HostileCase = {
  name: 'many-parts',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 30_000 : 700_000
    const about = { sessionId: 's', timestamp: '2026-01-02T03:04:05Z' }
    const long = `q ${'x'.repeat(3 * megabyte)}`
    const question = { role: 'user', content: long }
    const answer = { role: 'assistant', content: Array.from({ length: count }, () => ({ type: 'text', text: 'x' })) }
    const text = [
      line({ type: 'user', uuid: 'm0', parentUuid: null, message: question, ...about }),
      line({ type: 'assistant', uuid: 'm1', parentUuid: 'm0', message: answer, ...about }),
    ]
    const { file, violations } = await importBytes(run, 'parts.jsonl', text.join(''))
    return {
      did: `imported ${file?.messages ?? 0} messages, one of ${count} parts`,
      // The parts of the answer are joined, with an empty line between them; then both messages are split.
      violations: [...violations, ...checkCount(file, countPieces(long.length) + countPieces(3 * count - 2))],
    }
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
    const { file, violations } = await importBytes(run, 'checkpoints.jsonl', lines.join(''))
    return {
      did: `imported ${file?.messages ?? 0} messages with ${count} checkpoints`,
      violations: [
        ...violations,
        ...(file?.format === 'ggcode' ? [] : [`the file was read as ${file?.format}`]),
        ...((file?.messages ?? 0) >= count ? [] : checkCount(file, count)),
      ],
    }
  },
}

/** Files that name folders no session should work in. */
const foreignFolders: HostileCase = {
  name: 'foreign-folders',
  from: 'import',
  async run(run) {
    const violations: string[] = []
    const folders = ['/', '/etc', '/usr/lib', '/dev', process.env['HOME'] ?? '/root', '../..', '.']
    for (const cwd of folders) {
      const at = { timestamp: '2026-01-02T03:04:05Z', sessionId: `folder-${cwd}`, cwd }
      const message = { role: 'user', content: 'q' }
      const text = line({ type: 'user', uuid: 'm0', parentUuid: null, message, ...at })
      const imported = await importBytes(run, 'folder.jsonl', text)
      violations.push(...imported.violations)
      if (!imported.file?.remarks.some(({ code }) => code === 'workdir_dropped'))
        violations.push(`nothing is said of ${cwd}: ${JSON.stringify(imported.file?.remarks)}`)
    }
    const listed = JSON.parse((await ask(run.server, '/sessions?limit=50')).text)
    const imported = listed.sessions.filter(({ messageCount }: { messageCount: number }) => messageCount === 1)
    if (imported.length < folders.length) violations.push(`only ${imported.length} sessions were imported`)
    for (const { id, handle, workspace } of imported) {
      if (workspace !== '') violations.push(`${handle} works in ${workspace}`)
      const body = { type: 'sendPrompt', content: 'go on', commandId: `prompt-${id}` }
      const answer = await ask(run.server, `/sessions/${id}/commands`, { body })
      violations.push(...check('sendPrompt without a folder', answer, [409]))
    }
    return { did: `imported ${imported.length} sessions of system folders`, violations }
  },
}

/** Many clients import at once: each import needs a thread with much memory, so that they run one after the other. */
const importsAtOnce: HostileCase = {
  name: 'imports-at-once',
  from: 'import',
  async run(run) {
    const count = run.isQuick ? 3000 : 250_000
    const [large, small] = run.isQuick ? [2, 3] : [4, 24]
    const importAll = (files: number, messages: number) =>
      Promise.all(
        Array.from({ length: files }, async (_, index) => {
          const bytes = new TextEncoder().encode([...tinyMessages(messages, `${messages}-${index}`)].join(''))
          return ask(run.server, '/import?name=at-once.jsonl', { bytes })
        }),
      )
    const [whole, tiny] = await Promise.all([importAll(large, count), importAll(small, 2)])
    const imported = (one: HttpAnswer) => (one.status === 200 ? ImportAnswer.parse(JSON.parse(one.text)).files : [])
    return {
      did: `imported ${large} files of ${count} messages and ${small} small ones at once: ${countStatuses([...whole, ...tiny])}`,
      violations: [
        ...[...whole, ...tiny].flatMap((one) => check('POST /import', one, [200, 503], 'server_busy')),
        ...whole.flatMap(imported).flatMap((file) => checkCount(file, count)),
        ...tiny.flatMap(imported).flatMap((file) => checkCount(file, 2)),
        ...([...whole, ...tiny].some(({ status }) => status === 200) ? [] : ['nothing was imported']),
      ],
    }
  },
}

export const importCases: readonly HostileCase[] = [
  manyMessages,
  tornLine,
  longMessage,
  deepFiles,
  manyParts,
  checkpoints,
  foreignFolders,
  importsAtOnce,
]
