import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import { limits, type SessionHandle } from '@holdfast/protocol'
import { ask, check } from '../ask.ts'
import type { HostileCase } from '../case.ts'
import type { Block } from '../hostile-model.ts'
import { promptModel } from '../prompt-model.ts'
import { checkCalls, readAnswer } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

const megabyte = 1024 ** 2

/** Waits until a session asks for `count` approvals at once, and checks that each shows a diff. */
async function checkAsked(handle: SessionHandle, count: number): Promise<readonly string[]> {
  await waitForRest(handle, count)
  const snapshot = await handle.snapshot()
  const asked = snapshot.ok ? snapshot.value.view.pendingApprovals : []
  const shown = asked.filter(({ preview }) => preview.type === 'diff' && preview.diff.length > 0)
  return shown.length === count ? [] : [`${shown.length} of ${count} calls ask with a diff`]
}

/** Looks for every passage at every position in turn. */
const repeatedPassage: HostileCase = {
  name: 'repeated-passage',
  from: 'model',
  async run(run) {
    const passage = 'a'.repeat(run.isQuick ? 20_000 : 200_000)
    const file = 'a'.repeat(4 * megabyte)
    await writeFile(join(run.workdir, 'a.txt'), file)
    const args = { path: 'a.txt', old_text: passage, new_text: 'b' }
    const handle = await promptModel(run, 'repeated-passage', () => [{ tool: 'edit_file', args }])
    const rest = await waitForRest(handle, 1)
    const violations = [...(await checkCalls(handle, 1, 'error', ' times'))]
    if (rest !== 'rests') violations.push('an ambiguous edit was offered for approval')
    if ((await readFile(join(run.workdir, 'a.txt'), 'utf8')) !== file) violations.push('the file was changed')
    return { did: `edited a file of 4 MB by a passage of ${passage.length} characters`, violations }
  },
}

/** Looks for passages that differ from the file only in their first character, many times at once. */
const passageNotFound: HostileCase = {
  name: 'passage-not-found',
  from: 'model',
  async run(run) {
    const calls = run.isQuick ? 2 : 3 // a longer answer is refused
    await writeFile(join(run.workdir, 'a.txt'), 'aaaaaaa\r\n'.repeat((4 * megabyte) / 9))
    const passage = `b${'aaaaaaa\n'.repeat((run.isQuick ? 50_000 : 900_000) / 8)}`
    const args = { path: 'a.txt', old_text: passage, new_text: 'b' }
    const handle = await promptModel(run, 'passage-not-found', () =>
      Array.from({ length: calls }, () => ({ tool: 'edit_file', args })),
    )
    const rest = await waitForRest(handle, 1)
    const violations = [...(await checkCalls(handle, calls, 'error', 'not found'))]
    if (rest !== 'rests') violations.push('an edit without a match was offered for approval')
    return { did: `looked ${calls} times for ${passage.length} characters that are not there`, violations }
  },
}

/** Reads one line of a file of line feeds, many times at once. */
const largeReads: HostileCase = {
  name: 'large-reads',
  from: 'model',
  async run(run) {
    const calls = run.isQuick ? 4 : 64
    const lines = run.isQuick ? 4 * megabyte : 15 * megabyte
    await writeFile(join(run.workdir, 'lines.txt'), '\n'.repeat(lines))
    const handle = await promptModel(run, 'large-reads', () =>
      Array.from({ length: calls }, () => ({ tool: 'read_file', args: { path: 'lines.txt', limit: 1 } })),
    )
    await waitForRest(handle, 1)
    const violations = await checkCalls(handle, calls, 'complete', `of ${lines};`)
    return { did: `read ${calls} times of a file of ${lines} lines`, violations }
  },
}

/** Is aborted while large changes are compared. */
const abortedPreparation: HostileCase = {
  name: 'aborted-preparation',
  from: 'model',
  async run(run) {
    const calls = run.isQuick ? 8 : 64
    await writeFile(join(run.workdir, 'lines.txt'), '\n'.repeat(4 * megabyte - 1))
    const handle = await promptModel(run, 'aborted-preparation', () =>
      Array.from({ length: calls }, () => ({ tool: 'delete_file', args: { path: 'lines.txt' } })),
    )
    const violations: string[] = []
    // The others are still being prepared.
    if ((await waitForRest(handle, 1)) !== 'asks') violations.push('no call asked')
    await createSession(handle).abort()
    if ((await waitForRest(handle, 1)) !== 'rests') violations.push('an aborted call still asks')
    violations.push(...(await checkCalls(handle, calls, 'interrupted', '')))
    return { did: `aborted the preparation of ${calls} large changes`, violations }
  },
}

/** Asks to delete a file of line feeds: every line of it is in the diff. */
const previewBomb: HostileCase = {
  name: 'preview-bomb',
  from: 'model',
  async run(run) {
    const calls = run.isQuick ? 8 : 64
    await writeFile(join(run.workdir, 'lines.txt'), '\n'.repeat(4 * megabyte - 1))
    const handle = await promptModel(run, 'preview-bomb', () =>
      Array.from({ length: calls }, () => ({ tool: 'delete_file', args: { path: 'lines.txt' } })),
    )
    const asked = await checkAsked(handle, calls)
    const violations = ['', '/approvals', '/messages'].map(async (path) => {
      const answer = await ask(run.server, `/sessions/${handle.id}${path}`)
      const isLarge = answer.text.length > 8 * megabyte
      return [
        ...check(`GET ${path}`, answer, [200]),
        ...(isLarge ? [`GET ${path} has ${answer.text.length} bytes`] : []),
      ]
    })
    return {
      did: `asked to delete 4 MB of line feeds ${calls} times`,
      violations: [...asked, ...(await Promise.all(violations)).flat()],
    }
  },
}

/** Asks for many changes at once, each too small for a thread. */
const manyChanges: HostileCase = {
  name: 'many-changes',
  from: 'model',
  async run(run) {
    const calls = 64
    await writeFile(join(run.workdir, 'lines.txt'), '\n'.repeat(60_000))
    const handle = await promptModel(run, 'many-changes', () =>
      Array.from({ length: calls }, () => ({ tool: 'delete_file', args: { path: 'lines.txt' } })),
    )
    const asked = await checkAsked(handle, calls)
    const answer = await ask(run.server, `/sessions/${handle.id}`)
    return { did: `asked for ${calls} changes at once`, violations: [...asked, ...check('GET session', answer, [200])] }
  },
}

/** Answers in very many blocks of one character. */
const manyBlocks: HostileCase = {
  name: 'many-blocks',
  from: 'model',
  async run(run) {
    const count = run.isQuick ? 20_000 : 250_000
    const blocks = (length: number) => () => Array.from({ length }, () => ({ text: 'x' }))
    const handle = await promptModel(run, 'many-blocks', blocks(count))
    await waitForRest(handle, 1)
    const answer = await ask(run.server, `/sessions/${handle.id}`)
    const violations = [...check('GET session', answer, [200])]
    const allowed = await promptModel(run, 'allowed-blocks', blocks(limits.answerPartsMax))
    await waitForRest(allowed, 1)
    const said = (await readAnswer(allowed)).length
    if (said !== limits.answerPartsMax) violations.push(`${said} of ${limits.answerPartsMax} blocks are there`)
    const snapshot = await handle.snapshot()
    if (!snapshot.ok || snapshot.value.view.activity !== 'error') violations.push(`${count} blocks were not refused`)
    return { did: `answered in ${count} blocks, which are refused, and in ${said}`, violations }
  },
}

/** Answers at the limits and beyond them, one answer after the other: memory must not grow with their number. */
const largeAnswers: HostileCase = {
  name: 'large-answers',
  from: 'model',
  async run(run) {
    const [callsMax, size] = run.isQuick ? [3, 4] : [64, 15]
    const times = <Value>(count: number, value: (index: number) => Value) =>
      Array.from({ length: count }, (_, index) => value(index))
    const names = `{${times(90_000, (index) => `"${index.toString(36)}":0`).join(',')}}`
    const fewerNames = `{${times(9000, (index) => `"${index.toString(36)}":0`).join(',')}}`
    await writeFile(join(run.workdir, 'lines.txt'), 'abc\n'.repeat(run.isQuick ? 200_000 : 20_000_000))
    const lists = `{"a":[${'{},'.repeat(340_000)}0]}`
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n'
    const answers: { readonly [name: string]: readonly Block[] } = {
      'many-names': times(fitting(callsMax, names), () => ({ tool: 'read_file', args: names })),
      'fewer-names': times(fitting(callsMax, fewerNames), () => ({ tool: 'read_file', args: fewerNames })),
      'many-lists': times(fitting(callsMax, lists), () => ({ tool: 'no_such_tool', args: lists })),
      'too-many-names': times(run.isQuick ? 0 : fitting(64, names) + 1, () => ({ tool: 'read_file', args: names })),
      'hidden-characters': times(callsMax, () => ({ tool: 'shell', args: { command: '\u202e'.repeat(33_000) } })),
      'long-event': [{ raw: 'data: ' }, ...times(size, () => ({ raw: 'x'.repeat(megabyte) })), { raw: '\n\n' }],
      'unreadable-event': [{ raw: `data: ${'x'.repeat(3.9 * megabyte)}\n\n` }],
      'event-of-lists': [{ raw: `data: {"type":"ping","a":[${'{},'.repeat(megabyte)}0]}\n\n` }],
      'long-text': [{ text: 'x '.repeat((size * megabyte) / 2) }],
      'allowed-text': [{ text: 'x '.repeat(1.9 * megabyte) }],
      'hidden-text': [{ text: '\u202e'.repeat(megabyte) }],
      pings: times(run.isQuick ? size : pingsMax / 2000, () => ({ raw: ping.repeat(2000) })),
      'too-many-pings': times(run.isQuick ? 0 : pingsMax / 2000 + 10, () => ({ raw: ping.repeat(2000) })),
      'far-lines': times(callsMax, (index) => ({
        tool: 'read_file',
        args: { path: 'lines.txt', offset: 190_000 + index, limit: 5 },
      })),
    }
    const violations: string[] = []
    for (const [name, blocks] of Object.entries(answers).filter(([, all]) => all.length > 0)) {
      const handle = await promptModel(run, name, () => blocks)
      await waitForRest(handle, blocks.length)
      violations.push(...(await checkLarge(name, handle, blocks.length)))
      const exports = run.isQuick ? ['/export?format=html'] : ['/export?format=html', '/export?format=json']
      for (const path of ['', '/messages', '/approvals', ...exports])
        violations.push(...check(`GET ${path}`, await ask(run.server, `/sessions/${handle.id}${path}`), [200]))
      await createSession(handle).abort()
    }
    return { did: `gave ${Object.keys(answers).length} large answers`, violations }
  },
}

/** How many calls with these arguments an answer may have, at most `callsMax`. Each call counts as a few characters more. */
const fitting = (callsMax: number, args: string): number =>
  Math.min(callsMax, Math.floor(limits.answerCharsMax / (args.length + callChars)))
const callChars = 100
/** Each event counts as 16 characters; a multiple of 2,000. */
const pingsMax = 260_000

/** Checks what became of an answer: the limit that it exceeds is told, and what is within the limits is there. */
async function checkLarge(name: string, handle: SessionHandle, calls: number): Promise<readonly string[]> {
  const told = (found: readonly string[]) => found.map((violation) => `${name}: ${violation}`)
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) return told([snapshot.fault.message])
  const { activity, pendingApprovals, lastTurn } = snapshot.value.view
  const { length } = await readAnswer(handle)
  switch (name) {
    case 'many-names':
    case 'many-lists':
      return told(await checkCalls(handle, calls, 'error', `more than ${limits.callArgsValuesMax} values`))
    case 'fewer-names':
      return told(await checkCalls(handle, calls, 'error', 'arguments'))
    case 'hidden-characters': {
      const shown = pendingApprovals.filter(({ preview }) => !JSON.stringify(preview).includes('\u202e'))
      return shown.length === calls ? [] : [`${name}: ${shown.length} of ${calls} calls ask without hidden characters`]
    }
    case 'allowed-text':
      return length >= 2 * Math.floor(1.9 * megabyte) ? [] : [`${name}: ${length} characters are there`]
    case 'hidden-text':
      return length === megabyte ? [] : [`${name}: ${length} characters are there`]
    case 'pings':
      return activity === 'idle' && length === 0 ? [] : [`${name}: the session is ${activity}`]
    case 'far-lines':
      return told(await checkCalls(handle, calls, 'complete', '\tabc\n'))
    case 'too-many-names':
    case 'too-many-pings': {
      const told = lastTurn?.fault?.message ?? `the session is ${activity}`
      return told.includes('is too long') ? [] : [`${name}: ${told}`]
    }
    default:
      return activity === 'error' && lastTurn?.fault
        ? []
        : [`${name}: the answer was not refused, the session is ${activity}`]
  }
}

/** Waits for approval while somebody else changes the file. */
const changedWhileWaiting: HostileCase = {
  name: 'changed-while-waiting',
  from: 'model',
  async run(run) {
    const path = join(run.workdir, 'plan.txt')
    await writeFile(path, 'one\n')
    const args = { path: 'plan.txt', old_text: 'one', new_text: 'two' }
    const handle = await promptModel(run, 'changed-while-waiting', () => [{ tool: 'edit_file', args }])
    await waitForRest(handle, 1)
    await writeFile(path, 'mine, not one\n')
    await createSession(handle).respondToApproval('approve')
    await waitForRest(handle, 1)
    const now = await readFile(path, 'utf8')
    const violations = now === 'mine, not one\n' ? [] : [`the file now holds ${JSON.stringify(now)}`]
    const snapshot = await handle.snapshot()
    const asked = snapshot.ok ? snapshot.value.view.pendingApprovals[0] : undefined
    const shown = asked?.preview.type === 'diff' ? asked.preview.diff : ''
    if (!shown.includes('-mine, not one\n+mine, not two\n'))
      violations.push(`the new diff is not shown: ${JSON.stringify(asked)}`)
    return { did: 'approved a write of a file that changed meanwhile', violations }
  },
}

/** Applies a diff whose lines fit almost everywhere. */
const repeatedHunk: HostileCase = {
  name: 'repeated-hunk',
  from: 'model',
  async run(run) {
    const file = 'a\n'.repeat(run.isQuick ? megabyte / 4 : 2 * megabyte)
    await writeFile(join(run.workdir, 'a.txt'), file)
    const hunk = ' a\n'.repeat(run.isQuick ? 20_000 : 200_000)
    const args = { path: 'a.txt', diff: `@@\n b\n${hunk}-a\n+c\n${hunk} b\n` }
    const handle = await promptModel(run, 'repeated-hunk', () => [{ tool: 'apply_diff', args }])
    const rest = await waitForRest(handle, 1)
    const violations = rest === 'rests' ? [] : ['an ambiguous diff was offered for approval']
    if ((await readFile(join(run.workdir, 'a.txt'), 'utf8')) !== file) violations.push('the file was changed')
    return { did: `applied a diff of ${args.diff.length} characters to a file of ${file.length}`, violations }
  },
}

/** Makes many edits of a large file in one call, the last of which does not fit. */
const manyEdits: HostileCase = {
  name: 'many-edits',
  from: 'model',
  async run(run) {
    const count = run.isQuick ? 20 : 100
    const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index}.`)
    await writeFile(join(run.workdir, 'lines.txt'), lines.join('\n'))
    const edits = Array.from({ length: count }, (_, index) => ({
      old_text: index === count - 1 ? 'not there' : `line ${index}.`,
      new_text: `${index}`,
    }))
    const args = { path: 'lines.txt', edits }
    const handle = await promptModel(run, 'many-edits', () => [{ tool: 'multi_edit_file', args }])
    const rest = await waitForRest(handle, 1)
    const violations = rest === 'rests' ? [] : ['edits of which one does not fit were offered for approval']
    return { did: `made ${count} edits of a file of 200,000 lines`, violations }
  },
}

export const modelCases: readonly HostileCase[] = [
  repeatedHunk,
  manyEdits,
  repeatedPassage,
  passageNotFound,
  largeReads,
  previewBomb,
  abortedPreparation,
  manyChanges,
  manyBlocks,
  largeAnswers,
  changedWhileWaiting,
]
