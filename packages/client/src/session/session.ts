import {
  type Answers,
  type ApprovalRule,
  type AttachOptions,
  type Budgets,
  type ClientEvent,
  ClientId,
  type CommandInput,
  type CommandOptions,
  clip,
  combineQueueEntriesToText,
  type Decision,
  escapeLine,
  fault,
  HoldfastError,
  orThrow,
  parseOptions,
  type Queue,
  type QueuedPrompt,
  type Seat,
  type SessionHandle,
  type SubscribeOptions,
  type TrustScope,
} from '@holdfast/protocol'
import { bindClient, bindSeat, type ClientRights, confineClient } from './bound-handle.ts'
import { createRequests } from './requests.ts'
import { createSessionHistory } from './session-history.ts'
import { createSessionModels } from './session-models.ts'
import { createSessionReads } from './session-reads.ts'
import { createSubscription, type Subscription } from './subscription.ts'
import { createTurn, type FollowedHandle, type Turn, type TurnOptions } from './turn.ts'

/** Which turn to stop. */
export type AbortOptions = CommandOptions & {
  /** Only this turn: nothing happens if it has ended, or if another one runs. */
  readonly turn?: number | undefined
}
/** How an approval is answered. */
export type AnswerOptions = CommandOptions & {
  /** What answers in place of a person, such as a policy of the program. The record, `show` and the page name it. */
  readonly via?: string | undefined
  /** The answer to a question, by the names of its fields. Fields that are left out get their defaults. */
  readonly answers?: Answers | undefined
  /** The subagent whose call waits. When absent, approvals of the session itself come first, then those of subagents. */
  readonly child?: string | undefined
}
/** How to leave plan mode. */
export type EnterExecOptions = CommandOptions & {
  /** Pins the last answer, so that the plan stays in the context. */
  readonly keepPlan?: boolean | undefined
}
/** Which calls of a tool to trust. */
export type TrustOptions = CommandOptions & {
  /** Trusts only calls with these arguments: their hash, from the approval. */
  readonly argsHash?: string | undefined
}
/** Whether to pin or to unpin. */
export type PinOptions = CommandOptions & {
  /** Pins or unpins; toggles when absent. */
  readonly pinned?: boolean | undefined
}
/** What a stored client event says about the others. */
export type ClientEventOptions = CommandOptions & {
  /** The client events now cover the whole session. */
  readonly complete?: boolean | undefined
}
/** The content of a prompt: a text, or a list of text and file parts. */
export type PromptContent = Extract<CommandInput, { readonly type: 'sendPrompt' }>['content']

/** How to send a prompt. */
export type PromptOptions = TurnOptions & {
  /** During a turn: `steering` joins it, as without this option; `follow_up` becomes the next turn. */
  readonly queue?: Queue | undefined
}

function promptCommand({ queue = 'steering' }: PromptOptions = {}): 'sendPrompt' | 'queueFollowUp' {
  if (queue === 'steering') return 'sendPrompt'
  if (queue === 'follow_up') return 'queueFollowUp'
  throw new HoldfastError(
    fault('bad_request', `There is no queue "${escapeLine(clip(String(queue), 100))}". Use steering or follow_up.`),
  )
}

/** How to become the driver. */
export type ClaimOptions = CommandOptions & {
  /** Takes control from another client of the same person; from anyone with an admin token. */
  readonly takeOver?: boolean | undefined
}

/** A session with one method per command. Refusals are thrown as `HoldfastError`. */
export type Session = Readonly<ReturnType<typeof createMethods>> & {
  /** Returns this session in the name of a client: every command, subscription and attachment is that client's. */
  as(client: string): Session
  /**
   * Attaches a client at once and returns the session bound to it. `role` says what it got then: `viewer` if another client
   * drives. A viewer may send no command; with `mayDrive` it may claim control and abort. The returned session cannot
   * attach another client, or the same one with more rights. Refused: bad_request, invalid_role, foreign_attachment,
   * not_driver.
   */
  attach(options?: AttachOptions): Promise<AttachedSession>
}

/** A session bound to an attached client, until it detaches. */
export type AttachedSession = Session &
  Pick<Seat, 'client' | 'role'> &
  AsyncDisposable & {
    /** Gives up the seat, and control with it. Later commands are refused: not_subscribed. */
    detach(): Promise<void>
  }

/** Creates the methods of a session on any handle. */
export const createSession = (handle: SessionHandle): Session => createSessionOf(handle, handle)

/** Creates the methods of a session in the name of a client that has these rights. */
export const createClientSession = (handle: SessionHandle, rights: ClientRights): Session =>
  createSessionOf(confineClient(handle, rights), handle)

/** `unnamed` follows turns: a subscription in a client's name would attach it, and keep it attached after `detach`. */
function createSessionOf(handle: SessionHandle, unnamed: Pick<SessionHandle, 'subscribe'>): Session {
  return {
    ...createMethods(handle, unnamed),
    as: (client) =>
      createSessionOf(bindClient(handle, orThrow(parseOptions(ClientId, client, 'name a client'))), unnamed),
    async attach(options) {
      const seat = orThrow(await handle.attach(options))
      const { client, role } = seat
      const { handle: bound, detach } = bindSeat(handle, seat, options)
      return { ...createSessionOf(bound, unnamed), client, role, detach, [Symbol.asyncDispose]: detach }
    },
  }
}

/** Methods for prompts, turns, approvals, settings and clients. */
function createMethods(handle: SessionHandle, unnamed: Pick<SessionHandle, 'subscribe'>) {
  const requests = createRequests(handle)
  const { submit, submitWith } = requests
  const followed: FollowedHandle = {
    submit: (command, options) => handle.submit(command, options),
    subscribe: (options) => unnamed.subscribe(options),
  }

  return {
    ...createSessionHistory(requests),
    ...createSessionModels(requests),
    ...createSessionReads(requests),
    /** The id of the session. */
    id: handle.id,
    /**
     * Sends a prompt and returns its turn: iterate it, or wait for `text()` or `result()`. During a turn it steers: it
     * joins that turn at the next safe point, and shares the answer if there is none yet. With `{queue: 'follow_up'}` it
     * waits for the end of that turn and always gets an answer of its own.
     */
    prompt: (content: PromptContent, options?: PromptOptions): Turn =>
      createTurn(followed, (sent) => submit({ type: promptCommand(options), content }, sent), options, ['queue']),
    /** Starts a turn without following it. During a turn it steers and returns `{queued: 'steering'}`. */
    sendPrompt: (content: PromptContent, options?: CommandOptions) => submit({ type: 'sendPrompt', content }, options),
    /** Adds a prompt to the running turn at its next safe point. In an idle session it starts a turn. */
    queueSteering: (content: PromptContent, options?: CommandOptions) =>
      submit({ type: 'queueSteering', content }, options),
    /** Adds a prompt that becomes the next turn when this one ends. */
    queueFollowUp: (content: PromptContent, options?: CommandOptions) =>
      submit({ type: 'queueFollowUp', content }, options),
    /** Removes all queued prompts and returns them. */
    recallQueues: (options?: CommandOptions) => submit({ type: 'recallQueues' }, options),
    /** Removes all queued prompts. */
    clearQueues: (options?: CommandOptions) => submit({ type: 'clearQueues' }, options),
    /** Removes queued steering and returns it; follow-ups stay. */
    dequeueSteering: (options?: CommandOptions) => submit({ type: 'dequeueSteering' }, options),
    /** Replaces the content of a queued prompt. Refused: queue_entry_not_found. */
    editQueueEntry: (entry: number, content: PromptContent, options?: CommandOptions) =>
      submit({ type: 'editQueueEntry', entry, content }, options),
    /** Removes one queued prompt. Refused: queue_entry_not_found. */
    removeQueueEntry: (entry: number, options?: CommandOptions) => submit({ type: 'removeQueueEntry', entry }, options),
    /** Sets the order of a queue: `entries` lists all its ids in the new order. Refused: bad_request, queue_entry_not_found. */
    reorderQueue: (queue: Queue, entries: readonly number[], options?: CommandOptions) =>
      submit({ type: 'reorderQueue', queue, entries: entries as number[] }, options), // parsed, not changed
    /**
     * Answers approval `id`, or the oldest one. `message` tells the model why it was rejected. A program that answers by
     * itself says so with `via`, so that the record does not name a person. A question of a running call is answered the same
     * way: `approve` with `answers`, `reject`, or `cancel`. Refused: bad_request, if the answers do not fit.
     */
    respondToApproval(decision: Decision, id?: number, message?: string, options?: AnswerOptions) {
      const approval = id === undefined ? {} : { approval: id }
      const reason = message === undefined ? {} : { message }
      return submitWith({ type: 'respondToApproval', decision, ...approval, ...reason }, options, [
        'via',
        'answers',
        'child',
      ])
    },
    /** Lets the session use an MCP server, or no longer. The model sees its tools from the next step on. */
    setServer: (server: string, on: boolean, options?: CommandOptions) =>
      submit({ type: 'setServer', server, on }, options),
    /** Tries again to reach an MCP server. Resolves when it has said what it offers. Refused: not_found, mcp_failed. */
    retryServer: (server: string, options?: CommandOptions) => submit({ type: 'retryServer', server }, options),
    /** Stops the running turn, or only the turn `turn`. Its text so far stays; calls that did not finish are interrupted. */
    abort: (options?: AbortOptions) => submitWith({ type: 'abort' }, options, ['turn']),
    /** Ends a command that runs in the background, with all its processes. Resolves when they are dead. Refused: not_found. */
    stopBackgroundShell: (shell: string, options?: CommandOptions) =>
      submit({ type: 'stopBackgroundShell', shell }, options),
    /** Continues the interrupted turn and returns it, like `prompt`. */
    continue: (options?: TurnOptions): Turn =>
      createTurn(followed, (sent) => submit({ type: 'continue' }, sent), options),
    /** Enters plan mode: tools that change something are denied. */
    enterPlan: (options?: CommandOptions) => submit({ type: 'enterPlan' }, options),
    /** Leaves plan mode: tools may change something, after approval. */
    enterExec: (options?: EnterExecOptions) => submitWith({ type: 'enterExec' }, options, ['keepPlan']),
    /** Replaces the budgets at which turns stop. A budget left out has no limit. */
    setBudgets: (budgets: Budgets, options?: CommandOptions) => submit({ type: 'setBudgets', budgets }, options),
    /** Sets which calls ask for an approval: those that change something, all, or none. Rules still apply. */
    setApprovals: (approvals: ApprovalRule, options?: CommandOptions) =>
      submit({ type: 'setApprovals', approvals }, options),
    /** Allows a tool without asking: for the turn, the session or the workspace. */
    setToolTrust: (tool: string, scope: TrustScope, options?: TrustOptions) =>
      submitWith({ type: 'setToolTrust', tool, scope }, options, ['argsHash']),
    /** Revokes the trust in a tool, or in `all`. */
    revokeToolTrust: (tool: string, options?: CommandOptions) => submit({ type: 'revokeToolTrust', tool }, options),
    /** Makes this client the driver, if there is none. Everyone is told. Refused: not_subscribed, driver_taken, not_driver. */
    claimDriver: (options?: ClaimOptions) => submitWith({ type: 'claimDriver' }, options, ['takeOver']),
    /** Makes another attached client the driver. */
    handOver: (client: string, options?: CommandOptions) => submit({ type: 'handOver', client }, options),
    /** Pins or unpins the session: listed first, protected from prune and clearAll. Returns whether it is pinned. */
    pinSession: (options?: PinOptions) => submitWith({ type: 'pinSession' }, options, ['pinned']),
    /** Sets the title. An empty title restores the first line of the first prompt. */
    rename: (title: string, options?: CommandOptions) =>
      submit({ type: 'rename', title }, options, { title: String(title).trim() }),
    /** Changes the working directory. Trust of the old workspace does not apply there. */
    moveWorkdir: (workdir: string, options?: CommandOptions) =>
      submit({ type: 'moveWorkdir', workdir }, options, { workdir }),
    /** Lets tools change only these lines of a file, counted from 0, both included. Refused: bad_boundary. */
    setBoundary: (path: string, start: number, end: number, options?: CommandOptions) =>
      submit({ type: 'setBoundary', path, start, end }, options),
    /** Lets tools change the whole file again. */
    clearBoundary: (path: string, options?: CommandOptions) => submit({ type: 'clearBoundary', path }, options),
    /** Removes all edit boundaries. */
    clearAllBoundaries: (options?: CommandOptions) => submit({ type: 'clearAllBoundaries' }, options),
    /** Tells the model a skill from its next step on. Refused: skill_not_found, skill_active, untrusted_workspace. */
    activateSkill: (name: string, options?: CommandOptions) => submit({ type: 'activateSkill', name }, options),
    /** Deactivates a skill. Text already in the conversation stays. Refused: skill_not_active. */
    deactivateSkill: (name: string, options?: CommandOptions) => submit({ type: 'deactivateSkill', name }, options),
    /** Stores a client's own event once. It is never sent to the model. */
    appendClientEvent: (event: ClientEvent, options?: ClientEventOptions) =>
      submitWith({ type: 'appendClientEvent', event }, options, ['complete']),
    /** Joins queued prompts into one text. */
    combineQueueEntriesToText: (entries: readonly QueuedPrompt[]) => combineQueueEntriesToText(entries),
    /** Follows the session: every record after `after` once and in order, then live frames. */
    subscribe: (options?: SubscribeOptions): Subscription => createSubscription(handle, options),
  }
}
