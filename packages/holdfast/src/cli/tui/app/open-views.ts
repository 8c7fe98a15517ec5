import { createLiveView } from '@holdfast/client'
import { cutFilesText, noChangesText, readTouched } from '@holdfast/client/internal'
import { listActiveTrust, type RestoreInput, type Result, type SessionId } from '@holdfast/protocol'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { todoRows } from '../render/side-lists.ts'
import { justify, line, shownLine, span, styles } from '../term/lines.ts'
import { createAgentsView } from '../views/agents-view.ts'
import { createBranchesView } from '../views/branches-view.ts'
import { createFilesView, createRestoreView } from '../views/files-view.ts'
import { createHelpView } from '../views/help-view.ts'
import { createListView } from '../views/list-view.ts'
import { createModelsView } from '../views/models-view.ts'
import { createRewindView, findLastTurn, type RewindRow } from '../views/rewind-view.ts'
import { createSessionsView } from '../views/sessions-view.ts'
import { createTextView } from '../views/text-view.ts'
import { createTranscriptView } from '../views/transcript-view.ts'
import { setInput, submit } from './actions.ts'
import type { App } from './app-state.ts'
import { approvalKeys, editingKeys, keyTable } from './key-map.ts'

/** Returns the value, or shows why there is none. */
function shown<Value>(app: App, result: Result<Value>): Value | null {
  if (result.ok) return result.value
  app.host.notice(result.fault.message, true)
  return null
}

/** Shows the keys and the slash commands. */
export function openHelp(app: App): void {
  const sections = () => [
    { heading: 'Keys', rows: keyTable.map((row) => [row.shown, row.about] as const) },
    { heading: 'A question that waits', rows: approvalKeys },
    { heading: 'Writing', rows: editingKeys },
    {
      heading: 'Slash commands',
      rows: app.commands.map(({ name, arguments: named, description }) => {
        const given = named === null ? '' : ` ${shownLine(named)}`
        return [`/${shownLine(name)}${given}`, shownLine(description)] as const
      }),
    },
  ]
  app.host.open(createHelpView(sections, app.host))
}

/** Lists the sessions, to open one here. `onNone` is called if none was chosen. */
export function openSessions(app: App, search = '', onNone?: () => void): void {
  const { reached, context } = app
  if (!reached) return
  const workspace = resolveWorkspace(context)
  const onChoose = async (id: string) => {
    app.host.close()
    const handle = shown(app, await reached.sessions.open(id))
    if (handle) app.show(handle)
  }
  app.host.open(
    createSessionsView({
      sessions: reached.sessions,
      workspace: workspace.ok && context.server === undefined ? workspace.value : null,
      now: context.now,
      onChoose: (id) => void onChoose(id),
      host: {
        ...app.host,
        close() {
          app.host.close()
          onNone?.()
        },
      },
      search,
      ...(onNone && { leaving: 'new session' }),
    }),
  )
}

export async function openModels(app: App): Promise<void> {
  const list = app.handle ? shown(app, await app.handle.models()) : null
  const current = app.live?.view?.model
  if (!list || current === undefined) return
  const onChoose = (model: string) => {
    app.host.close()
    void submit(app, { type: 'setModel', model })
  }
  app.host.open(createModelsView({ models: list.models, current, onChoose, host: app.host }))
}

/** Lists the thinking levels of the model. */
export function openThinking(app: App): void {
  const levels = app.live?.here?.thinkingLevels ?? (['off', 'low', 'medium', 'high'] as const)
  const current = app.live?.view?.thinkingLevel ?? 'off'
  app.host.open(
    createListView(
      {
        title: () => 'How much the model thinks',
        items: () => levels,
        startAt: Math.max(0, levels.indexOf(current)),
        row: (level, width) => justify([span(level)], level === current ? [span('in use', styles.good)] : [], width),
        textOf: (level) => level,
        onChoose(level) {
          app.host.close()
          void submit(app, { type: 'setThinkingLevel', level })
        },
      },
      app.host,
    ),
  )
}

export function openTranscript(app: App): void {
  if (!app.live) return
  const onPin = (message: { readonly id: number }) => void submit(app, { type: 'togglePin', message: message.id })
  app.host.open(createTranscriptView({ live: app.live, colours: app.colours, host: app.host, onPin }))
}

export async function openFiles(app: App): Promise<void> {
  const { handle } = app
  if (!handle) return
  const touched = shown(app, await readTouched(handle))
  if (!touched) return
  const { files, isCut } = touched
  if (isCut) app.host.notice(cutFilesText)
  const empty = files.length > 0 ? '' : await noChangesText(handle, 'The session has changed no files.')
  app.host.open(createFilesView({ handle, files, now: app.context.now(), empty, host: app.host }))
}

export async function openBranches(app: App): Promise<void> {
  const branches = app.handle ? shown(app, await app.handle.branches()) : null
  if (!branches) return
  const onChoose = (branch: string) => {
    app.host.close()
    void submit(app, { type: 'switchBranch', branch })
  }
  const current = app.live?.view?.branch ?? null
  app.host.open(createBranchesView({ branches, current, now: app.context.now(), onChoose, host: app.host }))
}

/** Lists the turns to go back before. */
export async function openRewind(app: App): Promise<void> {
  const { live } = app
  if (!live) return
  const last = await findLastTurn(live)
  if (!last.ok) return app.host.notice(last.fault.message, true)
  if (last.value === null) return app.host.notice('There is no turn to go back to.')
  const onChoose = (row: RewindRow, withFiles: boolean) => {
    app.host.close()
    void (withFiles ? askFiles(app, row) : goBack(app, row, false))
  }
  app.host.open(createRewindView({ live, onChoose, host: app.host }))
}

const pointBefore = (turn: number): RestoreInput => (turn === 0 ? { message: 1 } : { turn: turn - 1 })

/** Shows which files would be put back, and asks. */
export async function askFiles(app: App, row: RewindRow): Promise<void> {
  const preview = app.handle ? shown(app, await app.handle.previewRestore(pointBefore(row.turn))) : null
  if (!preview) return
  app.host.open(
    createRestoreView(preview, `Go back before turn ${row.turn}?`, () => void goBack(app, row, true), app.host),
  )
}

async function goBack(app: App, { turn, prompt }: RewindRow, withFiles: boolean): Promise<void> {
  // Before the first turn there is no turn to go back to: the line becomes empty, and is saved too.
  const moved = await submit(
    app,
    turn === 0 ? { type: 'truncateHistory', keepLast: 0 } : { type: 'rewind', turn: turn - 1 },
  )
  if (!moved?.ok) return
  if (withFiles) await submit(app, { type: 'restoreFiles', ...pointBefore(turn) })
  if (app.editor.text === '') setInput(app, prompt)
}

/** Lists the subagents; Enter shows the transcript of one, live. */
export function openAgents(app: App): void {
  const { host, colours, reached } = app
  const show = async (id: SessionId) => {
    const handle = reached ? shown(app, await reached.sessions.open(id)) : null
    if (!handle) return
    const live = createLiveView(handle, { role: 'viewer' })
    live.subscribe(() => host.redraw())
    host.open({
      ...createTranscriptView({ live, colours, host, onPin: () => undefined }),
      close: () => live.close(),
    })
  }
  const children = () => app.live?.here?.children ?? []
  host.open(createAgentsView({ children, onChoose: ({ id }) => void show(id), host }))
}

export function openTodos(app: App): void {
  const rows = (width: number) => {
    const todos = app.live?.view?.todos ?? []
    return todos.length === 0 ? [line('The agent has written no tasks.', styles.dim)] : todoRows(todos, width)
  }
  app.host.open(createTextView({ title: () => 'Tasks', rows }, app.host))
}

/** Lists the skills; Enter activates one, or no longer. */
export async function openSkills(app: App): Promise<void> {
  const skills = app.handle ? shown(app, await app.handle.skills()) : null
  if (!skills) return
  const isActive = (name: string) => (app.live?.view?.skills ?? []).some((one) => one.name === name)
  app.host.open(
    createListView(
      {
        title: () => 'Skills',
        items: () => skills,
        row: ({ name, description }, width) =>
          justify(
            [
              span(isActive(name) ? '☑ ' : '☐ ', styles.accent),
              span(shownLine(name)),
              span(`  ${shownLine(description ?? '')}`, styles.dim),
            ],
            [],
            width,
          ),
        textOf: ({ name }) => name,
        onChoose: ({ name }) => void submit(app, { type: isActive(name) ? 'deactivateSkill' : 'activateSkill', name }),
        hints: '↑↓ choose   Enter activates or ends   Esc back',
        empty: 'There are no skills here.',
      },
      app.host,
    ),
  )
}

/** Lists what runs without asking; Enter takes the trust back. */
export function openTrust(app: App): void {
  const trust = () => (app.live?.view ? listActiveTrust({ view: app.live.view, here: app.live.here }) : [])
  app.host.open(
    createListView(
      {
        title: () => 'Tools that run without asking',
        items: trust,
        row: ({ tool, scope, argsHash }, width) =>
          justify(
            [span(shownLine(tool)), span(argsHash === undefined ? '' : '  one exact call', styles.dim)],
            [span(`for the ${scope}`, styles.dim)],
            width,
          ),
        textOf: ({ tool }) => tool,
        onChoose: ({ tool }) => void submit(app, { type: 'revokeToolTrust', tool }),
        hints: '↑↓ choose   Enter asks again from now on   Esc back',
        empty: 'Nothing is trusted. holdfast trust shows what the files of this folder offer.',
      },
      app.host,
    ),
  )
}

/** Lists the attached screens; Enter makes one the driver. */
export function openScreens(app: App): void {
  app.host.open(
    createListView(
      {
        title: () => 'Screens of this session',
        items: () => app.live?.presence ?? [],
        row: ({ client, role }, width) =>
          justify(
            [span(shownLine(client)), span(client === app.client ? ' (this one)' : '', styles.dim)],
            [span(role, role === 'driver' ? styles.good : styles.dim)],
            width,
          ),
        textOf: ({ client }) => client,
        onChoose({ client }) {
          app.host.close()
          void submit(
            app,
            client === app.client ? { type: 'claimDriver', takeOver: true } : { type: 'handOver', client },
          )
        },
        hints: '↑↓ choose   Enter makes it the driver   Esc back',
      },
      app.host,
    ),
  )
}
