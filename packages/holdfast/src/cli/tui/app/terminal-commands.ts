import { commandResult, noWorkdir, type SlashCommand } from '@holdfast/protocol'
import { run as exportToFile } from '../../commands/store/export.ts'
import { readSlashCommand, type SlashName, slashTexts } from '../../sessions/slash-commands.ts'
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

/** What each command does on a screen. */
const commands: Readonly<Record<SlashName, (app: App, given: string) => void>> = {
  help: openHelp,
  new: (app) => void startNew(app),
  sessions: (app) => openSessions(app),
  search: (app, given) => openSessions(app, given),
  model: (app) => void openModels(app),
  think: openThinking,
  branches: (app) => void openBranches(app),
  switch: (app) => void openBranches(app),
  rewind: (app) => void openRewind(app),
  branch: (app) => void openRewind(app),
  undo: (app) => void undoTurn(app),
  files: (app) => void openFiles(app),
  boundaries: openBoundaries,
  agents: openAgents,
  todos: openTodos,
  skills: (app) => void openSkills(app),
  trust: openTrust,
  screens: openScreens,
  drive: takeOver,
  transcript: openTranscript,
  fold: (app) => void submit(app, { type: 'toggleAllToolCollapses' }),
  continue: (app) => void submit(app, { type: 'continue' }),
  fork: (app) => void fork(app),
  uncompact: (app) => void submit(app, { type: 'undoCompaction' }),
  export: (app, given) => void exportSession(app, given),
  mouse: toggleMouse,
  quit: leave,
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
  const found = readSlashCommand(text)
  if (found) commands[found.name](app, found.given)
  return found !== null
}

/** Returns the commands of the session and of the terminal, by name. */
export function listCommands(ofSession: readonly SlashCommand[]): readonly SlashCommand[] {
  const own = slashTexts().map(
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
