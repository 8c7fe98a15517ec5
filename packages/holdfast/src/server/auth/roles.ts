import type { Command, CommandType, TokenRole } from '@holdfast/protocol'
import type { DeclaredAccess } from './authorize.ts'

const open: DeclaredAccess = { role: 'open', bound: null }
/** Only with a token for all sessions. */
const all = (role: TokenRole): DeclaredAccess => ({ role, bound: null })
/** Only with a token of the server itself: it applies to the sessions of all tenants. */
const server = (role: TokenRole): DeclaredAccess => ({ role, bound: null, isOfServer: true })
/** Also with a token for one session, within that session. */
const each = (role: TokenRole, bound: TokenRole = role): DeclaredAccess => ({ role, bound })

/** The least role for each route, in the order of docs/http.md. A route without a row does not compile. */
export const routeAccess = {
  'GET /v1/health': open,
  'GET /v1/ready': open,
  'GET /login': open,
  'POST /v1/login': open,
  'POST /v1/login-links': all('admin'),
  'POST /v1/logout': each('viewer'),
  'DELETE /v1/logins': all('admin'),
  'GET /v1/access': each('viewer'),
  'GET /v1/openapi.json': each('viewer'),
  'GET /v1/models': each('viewer', 'driver'),
  'POST /v1/credentials/refresh': server('driver'),
  'GET /v1/stats': server('admin'),
  'POST /v1/credentials': server('admin'),
  'DELETE /v1/credentials/:provider': server('admin'),
  'POST /v1/models/default': server('admin'),

  'GET /v1/tokens': all('admin'),
  'POST /v1/tokens': all('admin'),
  'DELETE /v1/tokens/:token': all('admin'),
  'POST /v1/sessions/:id/share': all('admin'),

  'GET /v1/spending': server('admin'),
  'POST /v1/caps': server('admin'),
  'DELETE /v1/caps': server('admin'),

  'GET /v1/permissions': server('admin'),
  'POST /v1/permissions': server('admin'),
  'DELETE /v1/permissions/:rule': server('admin'),
  'GET /v1/trust': server('admin'),
  'POST /v1/trust': server('admin'),
  'DELETE /v1/trust': server('admin'),
  'GET /v1/trust/workspaces': server('admin'),
  'GET /v1/hooks': server('admin'),
  'GET /v1/tools': all('driver'),
  // A driver may start a session in the folder, which tells the same.
  'GET /v1/skills': all('driver'),
  'GET /v1/agents': all('driver'),
  'GET /v1/servers': all('driver'),
  'GET /v1/commands': all('driver'),
  // Who may start a session in any folder may see which folders there are.
  'GET /v1/folders': all('driver'),
  'GET /v1/folders/complete': all('driver'),

  'GET /v1/sessions': each('viewer'),
  'POST /v1/sessions': all('driver'),
  'GET /v1/find': each('viewer'),
  'GET /v1/latest': each('viewer'),
  'GET /v1/search': each('viewer'),
  'GET /v1/sessions/:id': each('viewer'),
  'GET /v1/sessions/:id/state': each('viewer'),
  'GET /v1/sessions/:id/messages': each('viewer'),
  'GET /v1/sessions/:id/branches': each('viewer'),
  'GET /v1/sessions/:id/client-events': each('viewer'),
  'GET /v1/sessions/:id/file-changes': each('viewer'),
  'GET /v1/sessions/:id/touched-files': each('viewer'),
  'GET /v1/sessions/:id/diff': each('viewer'),
  // What is on the disk of the server now is not part of the session.
  'GET /v1/sessions/:id/restore-preview': each('driver'),
  'GET /v1/sessions/:id/file': each('driver'),
  'GET /v1/sessions/:id/complete': each('driver'),
  'GET /v1/sessions/:id/instructions': each('viewer', 'driver'),
  'GET /v1/sessions/:id/boundaries': each('viewer'),
  'GET /v1/sessions/:id/shells': each('viewer'),
  'GET /v1/sessions/:id/tools': each('viewer', 'driver'),
  'GET /v1/sessions/:id/servers': each('viewer', 'driver'),
  'GET /v1/sessions/:id/skills': each('viewer', 'driver'),
  'GET /v1/sessions/:id/commands': each('viewer', 'driver'),
  'GET /v1/sessions/:id/subagents': each('viewer'),
  'GET /v1/sessions/:id/subagent-context': each('viewer'),
  'GET /v1/sessions/:id/todos': each('viewer'),
  'GET /v1/sessions/:id/queues': each('viewer'),
  'GET /v1/sessions/:id/tool-trust': each('viewer'),
  'GET /v1/sessions/:id/approvals': each('viewer'),
  'GET /v1/sessions/:id/usage': each('viewer'),
  'POST /v1/sessions/:id/stop': all('admin'),

  'GET /v1/events': each('viewer'),
  'GET /v1/stream': each('viewer'),
  'POST /v1/stream/:stream/follow': each('viewer'),
  'POST /v1/stream/:stream/unfollow': each('viewer'),
  'POST /v1/stream/:stream/join': each('viewer'),
  'DELETE /v1/stream/:stream': each('viewer'),
  'GET /v1/sessions/:id/events': each('viewer'),
  'POST /v1/sessions/:id/attachments': each('driver'),
  'DELETE /v1/sessions/:id/attachments/:attachment': each('driver'),
  'POST /v1/sessions/:id/attachments/:attachment/claim': each('driver'),
  'POST /v1/sessions/:id/attachments/:attachment/handover': each('driver'),
  'POST /v1/sessions/:id/commands': each('driver'),

  'POST /v1/blobs': each('driver'),
  'GET /v1/sessions/:id/blobs/:hash': each('viewer'),

  'DELETE /v1/sessions/:id': all('driver'),
  'POST /v1/sessions/:id/purge': all('admin'),
  'POST /v1/sessions/:id/restore': all('driver'),
  'GET /v1/trash': all('viewer'),
  'POST /v1/trash/empty': all('admin'),
  'POST /v1/clear': all('admin'),
  'POST /v1/prune': all('admin'),

  'GET /v1/sessions/:id/export': each('viewer'),
  'POST /v1/import': server('admin'),
} as const satisfies { readonly [route: string]: DeclaredAccess }

export type RouteName = keyof typeof routeAccess

type CommandAccess<Type extends CommandType> =
  | DeclaredAccess
  /** For a command whose fields decide. */
  | ((command: Extract<Command, { readonly type: Type }>) => DeclaredAccess)

/** What outlives the session, or applies to others, needs an admin. */
const standing = (isStanding: boolean): DeclaredAccess => (isStanding ? server('admin') : each('driver'))

const commandRoles: { readonly [Type in CommandType]: CommandAccess<Type> } = {
  sendPrompt: each('driver'),
  queueSteering: each('driver'),
  queueFollowUp: each('driver'),
  recallQueues: each('driver'),
  clearQueues: each('driver'),
  dequeueSteering: each('driver'),
  editQueueEntry: each('driver'),
  removeQueueEntry: each('driver'),
  reorderQueue: each('driver'),
  respondToApproval: ({ decision }) => standing(decision === 'approve_always'),
  setToolTrust: ({ scope }) => standing(scope === 'workspace'),
  revokeToolTrust: each('driver'),
  abort: each('driver'),
  stopBackgroundShell: each('driver'),
  continue: each('driver'),
  enterPlan: each('driver'),
  enterExec: each('driver'),
  setModel: each('driver'),
  cycleModel: each('driver'),
  setThinkingLevel: each('driver'),
  cycleThinkingLevel: each('driver'),
  refreshCredentials: routeAccess['POST /v1/credentials/refresh'], // it applies to all sessions
  setBudgets: each('driver'),
  setApprovals: each('driver'),
  claimDriver: each('driver'),
  handOver: each('driver'),
  appendClientEvent: each('driver'),
  pinSession: each('driver'),
  rename: each('driver'),
  moveWorkdir: all('driver'),
  setBoundary: each('driver'),
  clearBoundary: each('driver'),
  clearAllBoundaries: each('driver'),
  setServer: each('driver'),
  retryServer: each('driver'),
  activateSkill: each('driver'),
  deactivateSkill: each('driver'),
  branchAt: each('driver'),
  switchBranch: each('driver'),
  rewind: each('driver'),
  restoreFiles: each('driver'),
  fork: all('driver'),
  togglePin: each('driver'),
  toggleToolCollapse: each('driver'),
  toggleAllToolCollapses: each('driver'),
  seedMessages: each('driver'),
  addSystemMessage: each('driver'),
  compact: each('driver'),
  undoCompaction: each('driver'),
  appendCheckpoint: each('driver'),
  summarize: each('driver'),
  setSummary: each('driver'),
  truncateHistory: each('driver'),
  setHistory: each('driver'),
}

/** Returns who may send a command. */
export function commandAccess(command: Command): DeclaredAccess {
  const declared = commandRoles[command.type] as CommandAccess<CommandType>
  return typeof declared === 'function' ? declared(command) : declared
}
