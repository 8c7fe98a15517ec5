import { tmpdir } from 'node:os'
import { connectHoldfast, createSession } from '@holdfast/client'
import { Command, eventVersion } from '@holdfast/protocol'
import { isCommandName } from '../../packages/holdfast/src/cli/commands.ts'

import { openHoldfast } from '../../packages/holdfast/src/open.ts'
import { routes } from '../../packages/holdfast/src/server/routes/routes.ts'

/** The ways into the product, in the order of the table. */
export const doors = ['library', 'client', 'CLI', 'HTTP'] as const
export type Door = (typeof doors)[number]

const commandTypes: ReadonlySet<string> = new Set(Command.options.map(({ shape }) => shape.type.value))

/** A command of the program that does the same as a method; `tell` sends every command of a session. */
const cliOf: Readonly<Record<string, string>> = {
  'session.messages': 'show',
  'session.metadata': 'ls',
  'session.status': 'ls',
  'session.usage': 'ls',
  'session.id': 'ls',
  'session.diffChanges': 'GET /v1/sessions/:id/diff',
  'session.previewRestore': 'GET /v1/sessions/:id/restore-preview',
  'session.listBranches': 'branches',
  'session.listSkills': 'skills',
  'session.getAvailableModels': 'models',
  'holdfast.list': 'ls',
  'holdfast.getSession': 'show',
  'holdfast.startSession': 'run',
  'holdfast.delete': 'rm',
  'holdfast.purge': 'rm',
  'holdfast.clearAll': 'rm',
  'holdfast.prune': 'prune',
  'holdfast.cleanupOlderThan': 'prune',
  'holdfast.exportMarkdown': 'export',
  'holdfast.exportSessionMarkdown': 'export',
  'holdfast.sendPrompt': 'tell',
  'holdfast.abort': 'tell',
  'holdfast.appendMessage': 'tell',
  'holdfast.appendCheckpoint': 'tell',
  'holdfast.appendClientEvent': 'tell',
  openHoldfast: 'serve',
  'OpenOptions.store': 'serve',
  Meta: 'ls',
  Status: 'ls',
  Decision: 'tell',
  TrustScope: 'tell',
  ErrorKind: 'show',
  ListedToken: 'token',
}

/** Commands of an attached client, which the command line never is. */
const ofAttachments: ReadonlySet<string> = new Set(['claimDriver', 'handOver'])

const commands = 'POST /v1/sessions/:id/commands'
const state = 'GET /v1/sessions/:id/state'

/** A route that does the same as a method, or answers with the field. */
const routeOf: Readonly<Record<string, string>> = {
  'session.messages': 'GET /v1/sessions/:id/messages',
  'session.subagentContext': 'GET /v1/sessions/:id/subagent-context',
  'session.subagents': 'GET /v1/sessions/:id/subagents',
  'session.messagesWithIds': 'GET /v1/sessions/:id/messages',
  'session.metadata': state,
  'session.status': state,
  'session.usage': state,
  'session.id': state,
  'session.pinnedIds': state,
  'session.activeToolCalls': state,
  'session.getQueuedMessages': 'GET /v1/sessions/:id/queues',
  'session.listToolTrust': 'GET /v1/sessions/:id/tool-trust',
  'session.getSummary': state,
  'session.isPersistent': state,
  'session.hooksEnabled': state,
  'session.subscriberRole': state,
  'session.credentialsConfigured': state,
  'session.editorSnapshot': state,
  'session.getProvider': state,
  'session.boundaryFor': state,
  'session.clientEventsComplete': state,
  'session.clientEvents': 'GET /v1/sessions/:id/client-events',
  'session.touchedFiles': 'GET /v1/sessions/:id/touched-files',
  'session.diffChanges': 'GET /v1/sessions/:id/diff',
  'session.previewRestore': 'GET /v1/sessions/:id/restore-preview',
  'session.listBranches': 'GET /v1/sessions/:id/branches',
  'session.listSkills': 'GET /v1/sessions/:id/skills',
  'session.getCommands': 'GET /v1/sessions/:id/commands',
  'session.getAvailableModels': 'GET /v1/models',
  'session.as': commands,
  'session.subscribe': 'GET /v1/sessions/:id/events',
  'session.attach': 'POST /v1/sessions/:id/attachments',
  'Subscription.unsubscribe': 'DELETE /v1/sessions/:id/attachments/:attachment',
  'holdfast.list': 'GET /v1/sessions',
  'holdfast.getSession': 'GET /v1/sessions/:id',
  'holdfast.getOrCreate': 'GET /v1/find',
  'holdfast.startSession': 'POST /v1/sessions',
  'holdfast.stopSession': 'POST /v1/sessions/:id/stop',
  'holdfast.delete': 'DELETE /v1/sessions/:id',
  'holdfast.purge': 'POST /v1/sessions/:id/purge',
  'holdfast.clearAll': 'POST /v1/clear',
  'holdfast.prune': 'POST /v1/prune',
  'holdfast.cleanupOlderThan': 'POST /v1/prune',
  'holdfast.exportMarkdown': 'GET /v1/sessions/:id/export',
  'holdfast.exportSessionMarkdown': 'GET /v1/sessions/:id/export',
  'holdfast.sendPrompt': commands,
  'holdfast.abort': commands,
  'holdfast.appendMessage': commands,
  'holdfast.appendCheckpoint': commands,
  'holdfast.appendClientEvent': commands,
  StartOptions: 'POST /v1/sessions',
  Meta: 'GET /v1/sessions',
  Status: 'GET /v1/sessions',
  Decision: commands,
  TrustScope: commands,
  Role: 'POST /v1/sessions/:id/attachments',
  ListedToken: 'GET /v1/tokens',
  EditorSnapshot: state,
  ErrorKind: 'GET /v1/sessions/:id/messages',
  FileChange: 'GET /v1/sessions/:id/events',
  Recorded: 'GET /v1/sessions/:id/events',
  record: 'GET /v1/sessions/:id/events',
}

export type Doors = Awaited<ReturnType<typeof openDoors>>

/** Opens the real objects behind the doors, and finds out which of them a name of the table is reached by. */
export async function openDoors(isOfLibrary: (name: string) => boolean) {
  const holdfast = await openHoldfast({
    store: 'memory:',
    environment: { HOLDFAST_HOME: tmpdir(), HOLDFAST_LOCAL_MODELS: 'off' },
  })
  const far = connectHoldfast('http://127.0.0.1:9', 'no-token-is-sent')
  const session = createSession({ ...(await holdfast.handles.start({ workdir: '.' }).then(handleOf)) })
  const conversations = holdfast.conversations()
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  const objects: Readonly<Record<string, { readonly near: object; readonly far: object | null }>> = {
    session: { near: session, far: session },
    holdfast: { near: holdfast, far },
    Conversations: { near: conversations, far: null },
  }

  /** Returns the table's key of a name: its method with its object, or the type of a field. */
  const keyOf = (name: string): string => {
    const [owner = '', method] = name.replace(/\(\)$/, '').split('.')
    if (name in eventVersion) return 'record'
    if (owner in objects || `${owner}.${method}` in { ...cliOf, ...routeOf }) return `${owner}.${method}`
    return owner
  }

  return {
    /** Returns the doors of a name, and what is wrong with the tables above. */
    of(name: string): readonly Door[] {
      const key = keyOf(name)
      const [owner = '', method = ''] = key.split('.')
      const object = objects[owner]
      const isCommand = owner === 'session' && commandTypes.has(method)
      const cli = isCommand && !ofAttachments.has(method) ? 'tell' : cliOf[key]
      const route = isCommand ? commands : routeOf[key]
      if (cli !== undefined && !isCommandName(cli)) throw new Error(`There is no command ${cli} for ${key}.`)
      if (route !== undefined && !served.has(route)) throw new Error(`There is no route ${route} for ${key}.`)
      const isNear = object ? method in object.near : isOfLibrary(name)
      const isFar = object ? object.far !== null && method in object.far : route !== undefined
      return doors.filter((door) => {
        if (door === 'library') return isNear
        if (door === 'client') return isFar
        return door === 'CLI' ? cli !== undefined : route !== undefined
      })
    },
    /** The entries of the tables that name no method of an object. */
    unknown: [...new Set([...Object.keys(cliOf), ...Object.keys(routeOf)])].filter((key) => {
      const [owner = '', method = ''] = key.split('.')
      const object = objects[owner]
      return object !== undefined && !(method in object.near)
    }),
    async close() {
      await far.close()
      await holdfast.close()
    },
  }
}

function handleOf<Value>(started: { readonly ok: true; readonly value: Value } | { readonly ok: false }): Value {
  if (!started.ok) throw new Error('The session did not start.')
  return started.value
}
