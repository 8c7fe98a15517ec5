import {
  type Answer,
  type AttachOptions,
  ClientId,
  createCommandId,
  fault,
  ok,
  parseAttachOptions,
  type Result,
  type Role,
  refuse,
  type Seat,
  type Submission,
} from '@holdfast/protocol'
import type { HeldSeat, OtherNode } from '../../ports/other-node.ts'
import { hasMoved } from '../registry/owners.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { notSubscribed } from '../stream/driver-control.ts'
import { attachedClient, type CallerOptions, splitCaller } from './caller.ts'
import { type LocalSession, parseSubmission } from './own-session.ts'
import { lookUpsMax, noSignal, ownerUnreachable, pauseBefore } from './relocation.ts'

/** Where a client sits: here, or at the owner of the session. */
type Place =
  | { readonly type: 'here'; readonly seat: Seat }
  | { readonly type: 'there'; readonly owner: OtherNode; readonly seat: HeldSeat }

/** Attaches a client that does not subscribe, wherever the session runs. When its owner changes, it is attached again. */
export async function takeMovingSeat(
  registry: SessionRegistry,
  own: LocalSession,
  given: AttachOptions & CallerOptions,
): Promise<Result<Seat>> {
  const { caller, options } = splitCaller(given)
  const asked = parseAttachOptions(options)
  if (!asked.ok) return asked
  const { client = ClientId.parse(createCommandId()) } = asked.value
  const { authority } = attachedClient(asked.value, caller)
  const { deps, owners } = registry
  let role: Role | undefined = asked.value.role
  let place: Place | null = null
  let sitting: Promise<Result<Place>> | null = null
  let isDetached = false

  function sit(): Promise<Result<Place>> {
    if (isDetached) return Promise.resolve(refuse(notSubscribed(client)))
    if (place) return Promise.resolve(ok(place))
    sitting ??= findPlace().finally(() => {
      sitting = null
    })
    return sitting
  }

  async function findPlace(): Promise<Result<Place>> {
    for (let lookUp = 0; ; lookUp++) {
      const owner = registry.loaded(own.id) ? null : await owners.find(own.id)
      const taken = owner ? await sitThere(owner) : await sitHere()
      if (taken.ok || !hasMoved(taken)) return taken
      const loaded = owner ? await registry.load(own.id) : taken
      if (!loaded.ok && loaded.fault.code !== 'session_locked') return loaded
      if (lookUp >= lookUpsMax)
        return refuse(ownerUnreachable(own.id, loaded.ok ? taken.fault : loaded.fault, deps.cluster !== undefined))
      await pauseBefore(deps.clock, lookUp)
    }
  }

  async function sitHere(): Promise<Result<Place>> {
    const seat = await own.attach({ client, role, caller: authority })
    return seat.ok ? keep({ type: 'here', seat: seat.value }, seat.value.role) : seat
  }

  async function sitThere(owner: OtherNode): Promise<Result<Place>> {
    const seat = await owner.sit({ session: own.id, client, role, caller: authority }, noSignal)
    if (!seat.ok) return seat
    const there: Place = { type: 'there', owner, seat: seat.value }
    seat.value.lost.then(() => {
      if (place !== there) return
      place = null // the others see it attached again at the next owner
      if (!isDetached && !registry.closedFault())
        sit().catch((cause) => deps.onProblem({ where: `attaching ${client} to ${own.id}`, cause }))
    })
    return keep(there, seat.value.role)
  }

  function keep(taken: Place, given: Role): Result<Place> {
    role = given
    place = taken
    if (isDetached) leave(taken)
    return ok(taken)
  }

  async function send(submission: Submission): Promise<Result<Answer>> {
    for (let lookUp = 0; ; lookUp++) {
      const seated = await sit()
      if (!seated.ok) return seated
      const answer = await sendFrom(seated.value, own, submission)
      if (!hasMoved(answer) || lookUp >= lookUpsMax || isDetached) return answer
      if (place === seated.value) place = null
      leave(seated.value)
      await pauseBefore(deps.clock, lookUp)
    }
  }

  const first = await sit()
  if (!first.ok) return first
  return ok({
    client,
    role: first.value.seat.role,
    async submit(command, { as, ...sending } = {}) {
      if (as !== undefined && as !== client)
        return refuse(fault('bad_request', `This session is attached as ${client}. Use another one for ${as}.`))
      if (isDetached) return refuse(notSubscribed(client))
      const submission = parseSubmission(command, { ...sending, as: client })
      return submission.ok ? send({ ...submission.value, needsSeat: true }) : submission
    },
    async detach() {
      isDetached = true
      if (place) leave(place)
    },
  })
}

/** Sends a command of the client from its place. */
async function sendFrom(place: Place, own: LocalSession, submission: Submission): Promise<Result<Answer>> {
  const { commandId, command } = submission
  if (place.type === 'here') return place.seat.submit(command, { commandId })
  const answer = await place.owner.call({ session: own.id, method: 'dispatch', args: [submission] }, noSignal)
  return answer as Result<Answer> // of `dispatch` there
}

function leave(place: Place): void {
  if (place.type === 'here') void place.seat.detach()
  else place.seat.leave()
}
