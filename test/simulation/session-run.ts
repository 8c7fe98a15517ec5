import { type CommandInput, invariant } from '@holdfast/protocol'
import { createDice, type Dice } from '@holdfast/testkit'
import { askedCalls } from '../../packages/core/src/session/state.ts'
import { createCommandClient } from './command-client.ts'
import { checkNow, checkReplay, checkRequest, checkRest, checkSpending, checkWork } from './invariants.ts'
import { settlePromises } from './scheduler.ts'
import { createSimulation, type Simulation } from './simulation.ts'
import { createSubscriber, type Subscriber } from './subscriber.ts'

const actionsMax = 250

/** The clients of a run: two subscribers without a name, or two named clients that can also drive. `hooked`: with hooks. */
export type ClientNaming = 'nameless' | 'named' | 'hooked'

/** Runs a session with the random choices of a seed. The same seed gives the same run. */
export async function runSessionSeed(seed: number, naming: ClientNaming): Promise<void> {
  const simulation = await createSimulation(createDice(seed), naming === 'hooked')
  const { dice, disk, durableLog } = simulation
  const starting = simulation.host().registry.start({ workdir: '/work' })
  await settle(simulation)
  await starting

  const commandClient = createCommandClient(simulation)
  commandClient.send({ type: 'sendPrompt', content: 'Begin.' }) // an empty session may be removed
  await settle(simulation)
  const names = naming === 'named' ? (['ann', 'bob'] as const) : null
  const subscribers = [createSubscriber(simulation, names?.[0]), createSubscriber(simulation, names?.[1])]
  const sendOne = () => {
    if (!names) return commandClient.send(commandFor(simulation))
    const as = dice.pick([null, ...names, ...names]) ?? null
    commandClient.send(dice.chance(1, 6) ? driverCommand(dice, names) : commandFor(simulation), as)
  }
  let checkedAt = 0

  for (let action = 0; action < actionsMax; action++) {
    const roll = dice.below(100)
    if (roll < 62) releaseOne(simulation)
    else if (roll < 76) sendOne()
    else if (roll < 80) commandClient.sendAgain()
    else if (roll < 84) dice.pick(subscribers)?.connect()
    else if (roll < 86) dice.pick(subscribers)?.disconnect()
    else if (roll < 93) simulation.clock.advance(dice.pick([10, 600, 1500]) ?? 10)
    else if (roll < 96) disk.mood = dice.pick(['well', 'well', 'refusing', 'unsure']) ?? 'well'
    else if (roll < 99) await simulation.crash(dice.pick(['killed', 'killed', 'paused']) ?? 'killed')
    else simulation.clock.advance(16 * 60_000)
    await settlePromises()
    checkNow(simulation)
    if (durableLog.head() > checkedAt) await checkRequest(simulation)
    checkedAt = durableLog.head()
  }

  disk.mood = 'well'
  await settle(simulation)
  checkWell(simulation, subscribers)
  await checkWork(simulation)
  const settling = simulation.host().registry.settleCrashed()
  await settle(simulation)
  await settling
  for (const subscriber of subscribers) subscriber.connect()
  await settle(simulation)
  checkNow(simulation)
  checkRest(simulation)
  checkWell(simulation, subscribers)
  await checkReplay(simulation)
  await checkSpending(simulation)
}

/** Checks that subscribers with a storage error learn that the disk accepts writes again, even without a command. */
function checkWell({ durableLog }: Simulation, subscribers: readonly Subscriber[]): void {
  for (const subscriber of subscribers) {
    const error = subscriber.storageError()
    invariant(error === null, `at seq ${durableLog.head()} a subscriber still has the error: ${error?.message}`)
  }
}

function releaseOne({ scheduler, dice }: Simulation): void {
  const one = dice.pick(scheduler.waiting)
  if (one) scheduler.release(one)
}

/** Runs until nothing is pending, without new commands or faults, while time passes. */
async function settle(simulation: Simulation): Promise<void> {
  const until = simulation.clock.now() + 60_000
  await settlePromises()
  for (let stepsLeft = 5000; ; stepsLeft--) {
    invariant(stepsLeft > 0, 'the session never becomes idle')
    if (simulation.scheduler.waiting.length > 0) releaseOne(simulation)
    else if (simulation.clock.now() < until) simulation.clock.advance(500)
    else return
    await settlePromises()
    checkNow(simulation)
  }
}

const decisions = ['approve', 'approve', 'approve_turn', 'approve_session', 'reject'] as const

function commandFor({ dice, durableLog }: Simulation): CommandInput {
  const state = durableLog.at(durableLog.head())?.state
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

const driverCommand = (dice: Dice, names: readonly string[]): CommandInput =>
  dice.chance(1, 2) ? { type: 'claimDriver' } : { type: 'handOver', client: dice.pick(names) ?? '' }

function queueCommand(dice: Dice, entry: number): CommandInput {
  const roll = dice.below(6)
  if (roll < 3) return { type: 'editQueueEntry', entry, content: 'Better so.' }
  if (roll === 3) return { type: 'removeQueueEntry', entry }
  return roll === 4 ? { type: 'recallQueues' } : { type: 'dequeueSteering' }
}
