import type { CallView, Message, Meta, ProcessView, SessionView } from '@holdfast/protocol'

/** The file of `src` that draws a field, or why the page does not draw it. */
type Drawn = `${string}.ts` | `${string}.tsx` | { readonly notDrawn: string }

type FieldsOf<Kinds> = Kinds extends unknown ? keyof Kinds : never

/**
 * Where the page draws each field a client gets. A new field does not compile until it has a row here; a test checks that
 * each file reads its field.
 */
export const drawnFields = {
  view: {
    status: 'session/header/session-header.tsx',
    mode: 'session/composer/composer.tsx',
    activity: { notDrawn: 'part of the status' },
    model: 'text/format.ts',
    thinkingLevel: 'session/header/session-header.tsx',
    fallback: 'text/format.ts',
    step: { notDrawn: 'live parts show the running step' },
    pendingApprovals: 'session/composer/dock.tsx',
    activeToolCalls: 'session/transcript/turn-view.tsx',
    queue: 'session/composer/dock.tsx',
    trust: { notDrawn: 'listActiveTrust merges it into the trust menu' },
    boundaries: 'session/header/session-header.tsx',
    skills: 'session/panel/side-panel.tsx',
    serversOff: 'session/panel/side-panel.tsx',
    todos: 'session/panel/side-panel.tsx',
    branches: 'session/header/branches-menu.tsx',
    branch: 'session/header/branches-menu.tsx',
    pins: 'session/transcript/pins.tsx',
    collapsed: 'session/header/session-menu.tsx',
    tokens: 'session/header/session-header.tsx',
    isEstimate: 'text/format.ts',
    turnUsage: { notDrawn: 'each turn shows the usage of its own messages' },
    checkpoint: 'session/transcript/message-view.tsx',
    lastTurn: 'session/transcript/turn-view.tsx',
    clientEventsComplete: { notDrawn: 'client events are for other programs' },
  },
  process: {
    clients: { notDrawn: 'presence frames carry the attached clients' },
    storageError: 'session/session-page.tsx',
    credentialsConfigured: { notDrawn: 'a failed turn says what is missing' },
    contextTokens: 'session/header/session-header.tsx',
    endpoint: { notDrawn: 'shown by `holdfast models`' },
    takes: { notDrawn: 'the page has no uploads' },
    thinkingLevels: { notDrawn: 'the page does not change the level' },
    workspaceTrust: { notDrawn: 'listActiveTrust merges it into the trust menu' },
    children: { notDrawn: 'the page has no cards for subagents' },
  },
  meta: {
    id: 'list/session-list.tsx',
    handle: { notDrawn: 'the page names sessions by title' },
    key: { notDrawn: 'for embedding programs' },
    title: 'session/header/session-header.tsx',
    workspace: 'session/header/session-header.tsx',
    model: { notDrawn: 'the header shows the model of the view' },
    provider: { notDrawn: 'part of the model name' },
    status: 'list/session-list.tsx',
    waiting: 'list/session-list.tsx',
    mode: { notDrawn: 'part of the status' },
    createdAt: { notDrawn: 'the list shows the last message' },
    lastMessageAt: 'list/session-list.tsx',
    messageCount: 'session/header/session-header.tsx',
    turnCount: 'session/header/session-header.tsx',
    branchCount: { notDrawn: 'the branches menu counts its own rows' },
    usage: 'session/header/session-header.tsx',
    preview: 'list/session-list.tsx',
    recentText: 'list/session-list.tsx',
    pinned: 'list/session-list.tsx',
    trashedAt: { notDrawn: 'the page does not list the trash' },
    parent: 'list/session-list.tsx',
    subagent: { notDrawn: 'lists leave subagents out' },
    background: { notDrawn: 'background sessions are listed as others' },
    persist: { notDrawn: 'the page starts stored sessions only' },
    hooksEnabled: { notDrawn: 'the page starts sessions with hooks only' },
    attachments: { notDrawn: 'the attached menu lists the clients' },
  },
  message: {
    kind: 'session/transcript/message-view.tsx',
    id: 'session/transcript/message-view.tsx',
    parent: { notDrawn: 'messages come in order' },
    turn: 'session/transcript/turns.ts',
    at: { notDrawn: 'the list shows times' },
    pinned: 'session/transcript/pins.tsx',
    collapsed: 'session/transcript/tool-card.tsx',
    text: 'session/transcript/message-view.tsx',
    parts: 'session/transcript/message-view.tsx',
    isExpanded: 'session/transcript/message-view.tsx',
    step: { notDrawn: 'messages are grouped by turn' },
    interrupted: 'session/transcript/message-view.tsx',
    call: 'session/transcript/tool-card.tsx',
    level: 'session/transcript/message-view.tsx',
    code: 'session/transcript/message-view.tsx',
    hook: 'session/transcript/message-view.tsx',
    child: { notDrawn: 'the text names the subagent' },
    finish: 'session/transcript/turns.ts',
    usage: 'session/transcript/turns.ts',
    fault: 'session/transcript/turns.ts',
  },
  call: {
    id: 'session/transcript/turn-view.tsx',
    tool: 'session/transcript/tool-card.tsx',
    args: 'session/transcript/tool-card.tsx',
    rewrittenBy: 'session/transcript/tool-card.tsx',
    status: 'session/transcript/tool-card.tsx',
    result: 'session/transcript/tool-card.tsx',
    durationMs: 'session/transcript/tool-card.tsx',
    approvedBy: 'session/transcript/tool-card.tsx',
    approval: 'session/transcript/tool-card.tsx',
    preview: 'session/transcript/tool-card.tsx',
    files: 'session/transcript/tool-card.tsx',
    child: { notDrawn: 'the result names the subagent' },
  },
} satisfies {
  readonly view: Readonly<Record<keyof SessionView, Drawn>>
  readonly process: Readonly<Record<keyof ProcessView, Drawn>>
  readonly meta: Readonly<Record<keyof Meta, Drawn>>
  readonly message: Readonly<Record<FieldsOf<Message>, Drawn>>
  readonly call: Readonly<Record<keyof CallView, Drawn>>
}
