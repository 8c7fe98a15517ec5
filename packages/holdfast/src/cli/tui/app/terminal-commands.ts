import { commandResult, noWorkdir, type SlashCommand } from '@holdfast/protocol'
import { run as exportToFile } from '../../commands/store/export.ts'
import { toFault } from '../../terminal/to-fault.ts'
import { showBoundaries } from '../views/boundaries-view.ts'
import { findLastTurn } from '../views/rewind-view.ts'
import { leave, submit, takeOver } from './actions.ts'
import type { App } from './app-state.ts'
import {
  askFiles,
  openAgents,
  openBranches,
  openFiles,
  openHelp,
  openModels,
  openRewind,
  openScreens,
  openSessions,
  openSkills,
  openThinking,
  openTodos,
  openTranscript,
  openTrust,
} from './open-views.ts'

/** A slash command that the terminal itself carries out. */
type TerminalCommand = {
  readonly about: string
  readonly given?: string
  /** Whether it is the session's command if something follows the name, such as `/model demo/agent`. */
  readonly isBare?: true
  readonly run: (app: App, given: string) => void
}

/** The commands of the terminal, by name. Those of the session come from the session: see `SlashCommand`. */
const commands: Readonly<Record<string, TerminalCommand>> = {
  help: { about: 'show the keys and the commands', run: openHelp },
  new: { about: 'start a new session here', run: (app) => void startNew(app) },
  sessions: { about: 'list, search and open sessions', run: (app) => openSessions(app) },
  search: { about: 'search the text of all sessions', given: '<text>', run: (app, given) => openSessions(app, given) },
  model: { about: 'choose the model', isBare: true, run: (app) => void openModels(app) },
  think: { about: 'choose how much the model thinks', isBare: true, run: openThinking },
  branches: { about: 'show the branches as a tree, and switch', run: (app) => void openBranches(app) },
  switch: { about: 'choose a branch', isBare: true, run: (app) => void openBranches(app) },
  rewind: { about: 'choose a turn to go back before', isBare: true, run: (app) => void openRewind(app) },
  branch: { about: 'choose a turn to go back before', isBare: true, run: (app) => void openRewind(app) },
  undo: { about: 'take the last turn back, with its file changes', run: (app) => void undoTurn(app) },
  files: { about: 'show the files that the session changed', run: (app) => void openFiles(app) },
  boundaries: {
    about: 'show, set and clear the lines that tools may change',
    given: '[<file> <lines> | clear [<file>]]',
    run: openBoundaries,
  },
  agents: { about: 'show the subagents', run: openAgents },
  todos: { about: "show the agent's tasks", run: openTodos },
  skills: { about: 'list, activate and end skills', run: (app) => void openSkills(app) },
  trust: { about: 'show what runs without asking, and revoke it', run: openTrust },
  screens: { about: 'show who is attached, and hand over', run: openScreens },
  drive: { about: 'take over from another screen', run: takeOver },
  transcript: { about: 'show the whole transcript', run: openTranscript },
  fold: { about: 'fold or open all tool calls', run: (app) => void submit(app, { type: 'toggleAllToolCollapses' }) },
  continue: { about: 'take an interrupted turn up again', run: (app) => void submit(app, { type: 'continue' }) },
  fork: { about: 'go on in a new session with the same past', run: (app) => void fork(app) },
  uncompact: {
    about: 'give the model the messages before a summary back',
    run: (app) => void submit(app, { type: 'undoCompaction' }),
  },
  export: {
    about: 'write the session to a file',
    given: '[file.md|html|json|jsonl]',
    run: (app, given) => void exportSession(app, given),
  },
  mouse: { about: 'use the mouse in lists, or no longer', run: toggleMouse },
  quit: { about: 'leave', run: leave },
}

function openBoundaries(app: App, given: string): void {
  if (app.handle) void showBoundaries(app.handle, given, (command) => submit(app, command), app.host)
}

function toggleMouse(app: App): void {
  app.hasMouse = !app.hasMouse
  app.host.notice(
    app.hasMouse
      ? 'The wheel and clicks work in lists and in Ctrl+O. /mouse turns them off.'
      : 'The mouse belongs to the terminal again.',
  )
}

/** Runs a command of the terminal itself. Returns false for any other text. */
export function runTerminalCommand(app: App, text: string): boolean {
  const [, name = '', given = ''] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trimEnd()) ?? []
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!found || (found.isBare && given !== '')) return false
  found.run(app, given.trim())
  return true
}

/** Returns the commands of the session and of the terminal, by name. */
export function listCommands(ofSession: readonly SlashCommand[]): readonly SlashCommand[] {
  const own = Object.entries(commands).map(
    ([name, { about, given }]): SlashCommand => ({
      name,
      description: about,
      arguments: given ?? null,
      source: 'built-in',
      scope: null,
      path: null,
    }),
  )
  const others = ofSession.filter(({ name }) => !Object.hasOwn(commands, name))
  return [...own, ...others].sort((one, other) => (one.name < other.name ? -1 : 1))
}

async function startNew(app: App): Promise<void> {
  const meta = app.live?.meta
  if (!app.reached || !meta) return
  const started = await app.reached.sessions.start({
    ...(meta.workspace !== noWorkdir && { workdir: meta.workspace }),
    model: meta.model,
    mode: meta.mode,
  })
  if (started.ok) app.show(started.value)
  else app.host.notice(started.fault.message, true)
}

async function fork(app: App): Promise<void> {
  const answer = await submit(app, { type: 'fork' })
  if (!answer?.ok || !app.reached) return
  const { session } = commandResult('fork', answer.value)
  const handle = await app.reached.sessions.open(session)
  if (handle.ok) app.show(handle.value)
}

/** Takes the last turn back. Shows first which files would be put back. */
async function undoTurn(app: App): Promise<void> {
  const found = app.live ? await findLastTurn(app.live) : null
  if (found?.ok === false) app.host.notice(found.fault.message, true)
  else if (found?.value) await askFiles(app, found.value)
  else app.host.notice('There is no turn to take back.')
}

const formats = ['md', 'html', 'json', 'jsonl'] as const

async function exportSession(app: App, given: string): Promise<void> {
  const meta = app.live?.meta
  if (!meta) return
  const output = given === '' ? `${meta.handle}.md` : given
  const format = formats.find((one) => output.endsWith(`.${one}`))
  if (!format) return app.host.notice('The name of the file must end in .md, .html, .json or .jsonl.', true)
  try {
    const quiet = { ...app.context.err, write: async () => undefined, tell: async () => undefined }
    const flags = { format, output, force: false, redact: false, json: false, ...noPlace }
    await exportToFile({ positionals: [meta.id], flags }, { ...app.context, err: quiet })
    app.host.notice(`Wrote ${output}.`)
  } catch (error) {
    app.host.notice(toFault(error)?.message ?? 'The session could not be exported.', true)
  }
}

const noPlace = { store: undefined, url: undefined, 'token-file': undefined } as const
