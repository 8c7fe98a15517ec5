import { type CommandInput, invariant } from '@holdfast/protocol'
import { createDice, type Dice } from '@holdfast/testkit'
import { askedCalls } from '../../packages/core/src/session/state.ts'
import { createCommander } from './commander.ts'
import { createFollower, type Follower } from './follower.ts'
import { checkNow, checkReplay, checkRequest, checkRest, checkWork } from './invariants.ts'
import { quiet } from './turnstile.ts'
import { createWorld, type World } from './world.ts'

const actionsMax = 250

/** Who is there: two who only watch, or two who may also drive, and command in their own names. */
export type Cast = 'nameless' | 'named'

/** One life of a session, from a seed: every choice is the dice's, so the same seed is the same story. */
export async function liveThrough(seed: number, cast: Cast): Promise<void> {
  const world = await createWorld(createDice(seed))
  const { dice, disk, ledger } = world
  const starting = world.host().registry.start({ workdir: '/work' })
  await calmDown(world)
  await starting

  const commander = createCommander(world)
  commander.send({ type: 'sendPrompt', content: 'Begin.' }) // a session nobody has spoken in may vanish
  await calmDown(world)
  const names = cast === 'named' ? (['ann', 'bob'] as const) : null
  const followers = [createFollower(world, names?.[0]), createFollower(world, names?.[1])]
  const sendOne = () => {
    if (!names) return commander.send(commandFor(world))
    const as = dice.pick([null, ...names, ...names]) ?? null
    commander.send(dice.chance(1, 6) ? seatCommand(dice, names) : commandFor(world), as)
  }
  let checkedAt = 0

  for (let action = 0; action < actionsMax; action++) {
    const roll = dice.below(100)
    if (roll < 62) letOneGo(world)
    else if (roll < 76) sendOne()
    else if (roll < 80) commander.sendAgain()
    else if (roll < 84) dice.pick(followers)?.connect()
    else if (roll < 86) dice.pick(followers)?.disconnect()
    else if (roll < 93) world.clock.advance(dice.pick([10, 600, 1500]) ?? 10)
    else if (roll < 96) disk.mood = dice.pick(['well', 'well', 'refusing', 'unsure']) ?? 'well'
    else if (roll < 99) await world.crash(dice.pick(['killed', 'killed', 'paused']) ?? 'killed')
    else world.clock.advance(16 * 60_000)
    await quiet()
    checkNow(world)
    if (ledger.head() > checkedAt) await checkRequest(world)
    checkedAt = ledger.head()
  }

  disk.mood = 'well'
  await calmDown(world)
  checkWell(world, followers)
  await checkWork(world)
  const settling = world.host().registry.settleCrashed()
  await calmDown(world)
  await settling
  for (const follower of followers) follower.connect()
  await calmDown(world)
  checkNow(world)
  checkRest(world)
  checkWell(world, followers)
  await checkReplay(world)
}

/** Once the disk takes writes, whoever was told that it does not has been told so, though nobody spoke since. */
function checkWell({ ledger }: World, followers: readonly Follower[]): void {
  for (const follower of followers) {
    const error = follower.storageError()
    invariant(error === null, `at seq ${ledger.head()} a follower still believes: ${error?.message}`)
  }
}

function letOneGo({ turnstile, dice }: World): void {
  const one = dice.pick(turnstile.waiting)
  if (one) turnstile.letGo(one)
}

/** Lets everything run its course: no new input, no fault, time passes. */
async function calmDown(world: World): Promise<void> {
  const until = world.clock.now() + 60_000
  await quiet()
  for (let patience = 5000; ; patience--) {
    invariant(patience > 0, 'the session never comes to rest')
    if (world.turnstile.waiting.length > 0) letOneGo(world)
    else if (world.clock.now() < until) world.clock.advance(500)
    else return
    await quiet()
    checkNow(world)
  }
}

const decisions = ['approve', 'approve', 'approve_turn', 'approve_session', 'reject'] as const

function commandFor({ dice, ledger }: World): CommandInput {
  const state = ledger.at(ledger.head())?.state
  const asked = state ? askedCalls(state) : []
  if (asked.length > 0 && dice.chance(1, 2)) {
    const decision = dice.pick(decisions) ?? 'reject'
    const approval = dice.chance(1, 2) ? dice.pick(asked)?.approval : undefined
    return { type: 'respondToApproval', decision, ...(approval !== undefined && { approval }) }
  }
  const queue = state?.queue ?? []
  if (queue.length > 0 && dice.chance(1, 3)) return queueCommand(dice, dice.pick(queue)?.id ?? 0)
  const roll = dice.below(18)
  if (roll < 5) return { type: 'sendPrompt', content: dice.pick(['Look around.', 'And then?', ' \ud800', '']) ?? '' }
  if (roll < 6) return { type: 'abort' }
  if (roll < 9) return { type: 'continue' }
  if (roll === 9) return { type: 'enterPlan' }
  if (roll < 13) return { type: 'enterExec' }
  if (roll === 13) return { type: 'respondToApproval', decision: 'approve' }
  if (roll < 16) return { type: 'queueFollowUp', content: dice.pick(['And after that?', 'At last.']) ?? '' }
  const tool = dice.pick(['touch', 'break']) ?? 'touch'
  if (roll === 16) return { type: 'setToolTrust', tool, scope: dice.pick(['turn', 'session', 'workspace']) ?? 'turn' }
  return { type: 'revokeToolTrust', tool: dice.pick([tool, 'all']) ?? 'all' }
}

const seatCommand = (dice: Dice, names: readonly string[]): CommandInput =>
  dice.chance(1, 2) ? { type: 'claimDriver' } : { type: 'handOver', client: dice.pick(names) ?? '' }

function queueCommand(dice: Dice, entry: number): CommandInput {
  const roll = dice.below(6)
  if (roll < 3) return { type: 'editQueueEntry', entry, content: 'Better so.' }
  if (roll === 3) return { type: 'removeQueueEntry', entry }
  return roll === 4 ? { type: 'recallQueues' } : { type: 'dequeueSteering' }
}
