import { createSession } from '@holdfast/client'
import { cutFilesText, noChangesText } from '@holdfast/client/internal'
import {
  type Answer,
  type CommandInput,
  commandResult,
  limits,
  linesText,
  listActiveTrust,
  orThrow,
  type Result,
  type SessionHandle,
  type Sessions,
} from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { describeFiles, describePreview } from '../render/restored-files.ts'
import { branchTable, fileTable, formatAge, sessionTable } from '../render/tables.ts'
import { textTable } from '../render/text-table.ts'
import { boundaryCommand } from '../sessions/boundary-command.ts'
import { handleOf } from '../sessions/handle-of.ts'
import { readSlashCommand, type SlashName, slashTexts } from '../sessions/slash-commands.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { toFault } from '../terminal/to-fault.ts'

/** What a command of plain mode may use. */
export type PlainDeps = {
  readonly handle: SessionHandle
  readonly sessions: Sessions
  readonly context: CliContext
  /** Prints text as it is: lists, diffs. */
  readonly note: (text: string) => Promise<void>
  /** Prints a sentence. */
  readonly tell: (text: string) => Promise<void>
  /** Sends a command; a refusal is printed. */
  readonly send: (command: CommandInput) => Promise<Result<Answer>>
  readonly leave: () => void
}

type RunPlain = (deps: PlainDeps, given: string) => unknown

/** The commands that need a screen, and what to use instead. */
const needsScreen = {
  new: 'Leave with /leave; holdfast starts a new session.',
  transcript: 'holdfast show prints the whole transcript.',
  fold: 'Here calls are printed in full.',
  mouse: 'Here the mouse belongs to the terminal.',
} as const satisfies { readonly [Name in SlashName]?: string }

/** What each other command does in lines. */
const commands: Readonly<Record<Exclude<SlashName, keyof typeof needsScreen>, RunPlain>> = {
  help: printHelp,
  sessions: printSessions,
  search: printHits,
  model: printModels,
  think: printLevels,
  branches: printBranches,
  switch: printBranches,
  rewind: (deps) => printTurns(deps, 'rewind'),
  branch: (deps) => printTurns(deps, 'branch'),
  undo: undoTurn,
  files: printFiles,
  boundaries: printBoundaries,
  agents: printAgents,
  todos: printTodos,
  skills: printSkills,
  trust: printTrust,
  screens: printScreens,
  drive: ({ send }) => send({ type: 'claimDriver', takeOver: true }),
  continue: ({ send }) => send({ type: 'continue' }),
  fork,
  uncompact: ({ send }) => send({ type: 'undoCompaction' }),
  export: exportSession,
  quit: ({ leave }) => leave(),
}

const isForScreen = (name: SlashName): name is keyof typeof needsScreen => Object.hasOwn(needsScreen, name)

/** Runs a command of plain mode. Returns false for any other text. */
export async function runPlainCommand(text: string, deps: PlainDeps): Promise<boolean> {
  const found = readSlashCommand(text.replace(/^\/leave\b/, '/quit'))
  if (!found) return false
  const { name, given } = found
  try {
    if (isForScreen(name)) await deps.tell(`This works on a screen only. ${needsScreen[name]}`)
    else await commands[name](deps, given)
  } catch (error) {
    const known = toFault(error)
    if (!known) throw error
    await deps.tell(escapeLine(known.message))
  }
  return true
}

async function printHelp({ handle, context: { err }, note, tell }: PlainDeps): Promise<void> {
  const ofSession = orThrow(await handle.commands())
  const own = slashTexts().filter(([name, { isBare }]) => !isForScreen(name) && !isBare)
  const rows = [
    ...own.map(([name, text]) => {
      const { about, given } = { ...text, ...text.inLines }
      return [`/${name}${given === undefined ? '' : ` ${given}`}`, about]
    }),
    ...ofSession
      .filter(({ name }) => !own.some(([one]) => one === name))
      .map(({ name, arguments: named, description }) => [
        escapeLine(`/${name}${named === null ? '' : ` ${named}`}`),
        escapeLine(description),
      ]),
  ].sort(([one = ''], [other = '']) => (one < other ? -1 : 1))
  await note(textTable(['COMMAND', 'WHAT IT DOES'], rows, err).trimEnd())
  await tell(
    'At this terminal: /leave ends, /drive takes control. A question is answered with y, t, s, a or n, or n and a reason.',
  )
}

/** Lists the newest turns, each with the prompt that began it. */
async function printTurns({ handle, note, tell }: PlainDeps, name: 'rewind' | 'branch'): Promise<void> {
  const { messages } = orThrow(await handle.page({ limit: limits.pageMessagesMax }))
  const begun = new Map<number, string>()
  for (const one of messages)
    if (one.kind === 'user' && !one.child && !begun.has(one.turn)) begun.set(one.turn, one.text)
  if (begun.size === 0) return tell('There is no turn to go back to.')
  for (const [turn, text] of begun) await note(`${turn}  ${escapeLine(text.slice(0, 200))}`)
  await tell(`/${name} <turn> goes back to the end of a turn. The later ones are saved as a branch.`)
}

async function printSessions({ handle, sessions, context, note, tell }: PlainDeps): Promise<void> {
  const { meta } = orThrow(await handle.state(['meta']))
  const list = orThrow(await sessions.list({ workspace: meta.workspace, limit: 20 }))
  await note(sessionTable(list.sessions, context.now(), context.err).trimEnd())
  await tell('/leave, then holdfast <session>, opens one.')
}

async function printHits({ sessions, context, note, tell }: PlainDeps, text: string): Promise<void> {
  if (text === '') return tell('Write /search <text>.')
  const { hits } = orThrow(await sessions.search({ text, limit: 10 }))
  if (hits.length === 0) return tell('Nothing was found.')
  for (const { sessionId, title, messageId, kind, at, snippet } of hits) {
    const age = formatAge(context.now() - Date.parse(at))
    const name = await handleOf(sessions, sessionId)
    await note(`${name}  ${escapeLine(title)}  #${messageId}  ${kind}  ${age}\n  ${escapeLine(snippet)}`)
  }
}

async function printModels({ handle, note, tell }: PlainDeps): Promise<void> {
  const { models } = orThrow(await handle.models())
  const { model: current } = orThrow(await handle.state(['model']))
  for (const { model, unusable } of models)
    if (unusable === null) await note(`${model === current ? '* ' : '  '}${escapeLine(model)}`)
  await tell('/model <provider/model> chooses one.')
}

async function printLevels({ handle, tell }: PlainDeps): Promise<void> {
  const { here, thinkingLevel } = orThrow(await handle.state(['here', 'thinkingLevel']))
  const levels = here?.thinkingLevels ?? ['off', 'low', 'medium', 'high']
  await tell(`Levels: ${levels.join(', ')}. Now: ${thinkingLevel}. /think <level> chooses one.`)
}

async function printBranches({ handle, context, note, tell }: PlainDeps): Promise<void> {
  const branches = orThrow(await handle.branches())
  if (branches.length === 0) return tell('This session has no branches.')
  await note(branchTable(branches, context.now(), context.err).trimEnd())
  await tell('/switch <branch> switches to one.')
}

/** Takes the last turn back. Without `yes` only says what that would do. */
async function undoTurn({ handle, context, note, tell, send }: PlainDeps, given: string): Promise<void> {
  if (given !== '' && given !== 'yes') return tell('Write /undo to see what would be taken back, or /undo yes.')
  const { messages } = orThrow(await handle.page({ limit: 1 }))
  const turn = messages.at(-1)?.turn
  if (turn === undefined) return tell('There is no turn to take back.')
  const point = turn === 0 ? ({ message: 1 } as const) : ({ turn: turn - 1 } as const)
  if (given === '') {
    const preview = orThrow(await handle.previewRestore(point))
    await note(describePreview(preview, context.err).trimEnd())
    return tell(`/undo yes takes turn ${turn} back${preview.files.length === 0 ? '' : ', and these files'}.`)
  }
  const moved = await send(turn === 0 ? { type: 'truncateHistory', keepLast: 0 } : { type: 'rewind', turn: turn - 1 })
  if (!moved.ok) return
  const restored = await send({ type: 'restoreFiles', ...point })
  if (restored.ok) await note(await describeFiles(handle, restored.value))
  await tell(`Took turn ${turn} back. It is saved as a branch: /branches lists it.`)
}

async function printFiles({ handle, context, note, tell }: PlainDeps): Promise<void> {
  const files = await createSession(handle).touchedFiles()
  if (files.length > 0) await note(fileTable(files, context.now(), context.err).trimEnd())
  else await tell(await noChangesText(handle, 'The session has changed no files.'))
  if (files.isCut) await tell(cutFilesText)
}

async function printBoundaries({ handle, note, tell, send }: PlainDeps, given: string): Promise<void> {
  const command = given === '' ? null : boundaryCommand(given)
  if (typeof command === 'string') return tell(command)
  if (command !== null && !(await send(command)).ok) return
  const boundaries = orThrow(await handle.boundaries())
  if (boundaries.length === 0) return tell('The session has no edit boundaries: tools may change every line.')
  await tell('Tools may change only these lines of these files:')
  for (const { path, suspended, ...range } of boundaries) {
    await note(`  ${suspended === undefined ? linesText(range) : 'nothing'} of ${escapeLine(path)}`)
    if (suspended !== undefined) await tell(`  ${escapeLine(suspended)}`)
  }
}

async function printAgents({ handle, note, tell }: PlainDeps): Promise<void> {
  const children = orThrow(await handle.subagents())
  if (children.length === 0) return tell('The session has started no subagents.')
  for (const { handle: name, agent, status, task } of children)
    await note(`${name} (${escapeLine(agent)}) ${status}: ${escapeLine(task)}`)
  await tell('holdfast show <name> prints what one did.')
}

const todoMarks = { pending: '[ ]', in_progress: '[>]', done: '[x]' } as const

async function printTodos({ handle, note, tell }: PlainDeps): Promise<void> {
  const { todos } = orThrow(await handle.state(['todos']))
  if (todos.length === 0) return tell('The agent has written no tasks.')
  for (const { status, description } of todos) await note(`${todoMarks[status]} ${escapeLine(description)}`)
}

async function printSkills({ handle, note, tell, send }: PlainDeps, name: string): Promise<void> {
  const skills = orThrow(await handle.skills())
  if (name !== '') {
    const isActive = skills.some((one) => one.name === name && one.active !== null)
    const sent = await send({ type: isActive ? 'deactivateSkill' : 'activateSkill', name })
    return sent.ok ? tell(`${escapeLine(name)} is ${isActive ? 'no longer active' : 'active'}.`) : undefined
  }
  if (skills.length === 0) return tell('There are no skills here.')
  for (const one of skills)
    await note(`${one.active === null ? '[ ]' : '[x]'} ${escapeLine(one.name)}: ${escapeLine(one.description)}`)
  await tell('/skills <name> activates one, or ends it.')
}

async function printTrust({ handle, note, tell, send }: PlainDeps, given: string): Promise<void> {
  const [, tool = ''] = /^revoke\s+(\S+)$/.exec(given) ?? []
  if (given !== '' && tool === '') return tell('Write /trust, or /trust revoke <tool>.')
  if (tool !== '') {
    const sent = await send({ type: 'revokeToolTrust', tool })
    return sent.ok ? tell(`${escapeLine(tool)} asks again from now on.`) : undefined
  }
  const { trust, here } = orThrow(await handle.state(['trust', 'here']))
  const trusted = listActiveTrust({ view: { trust }, here })
  if (trusted.length === 0) return tell('Nothing is trusted. holdfast trust shows what the files of this folder offer.')
  for (const { tool: name, scope, argsHash } of trusted)
    await note(`${escapeLine(name)}${argsHash === undefined ? '' : ', one exact call'}, for the ${scope}`)
  await tell('/trust revoke <tool> makes it ask again.')
}

async function printScreens({ handle, note }: PlainDeps): Promise<void> {
  const { here } = orThrow(await handle.state(['here']))
  for (const { client, role } of here?.clients ?? []) await note(`${escapeLine(client)}: ${role}`)
}

async function fork({ sessions, send, tell }: PlainDeps): Promise<void> {
  const answer = await send({ type: 'fork' })
  if (!answer.ok) return
  const made = orThrow(await sessions.open(commandResult('fork', answer.value).session))
  const { meta } = orThrow(await made.state(['meta']))
  await tell(`Made ${meta.handle}. /leave, then holdfast ${meta.handle}, opens it.`)
}

async function exportSession({ handle, context, tell }: PlainDeps, given: string): Promise<void> {
  const { meta } = orThrow(await handle.state(['meta']))
  const output = given === '' ? `${meta.handle}.md` : given
  const { formatOf, run: exportToFile } = await import('../commands/store/export.ts')
  const format = formatOf(output)
  if (!format) return tell('The name of the file must end in .md, .html, .json or .jsonl.')
  const quiet = { ...context.err, write: async () => undefined, tell: async () => undefined }
  const place = { store: undefined, url: undefined, 'token-file': undefined } as const
  const flags = { format, output, force: false, redact: false, json: false, ...place }
  await exportToFile({ positionals: [meta.id], flags }, { ...context, err: quiet })
  await tell(`Wrote ${escapeLine(output)}.`)
}
