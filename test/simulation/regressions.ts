import { limits } from '@holdfast/protocol'
import { finish, overload } from './model/action/agent.ts'
import { attach } from './model/action/attach.ts'
import { crash, dieOver, unload, wait } from './model/action/crash.ts'
import { ask, retry } from './model/action/send-command.ts'
import { sumUp } from './model/action/summaries.ts'
import { switchSession } from './model/action/switch-session.ts'
import { respond } from './model/family/approvals.ts'
import { compact, setSummary, summarize } from './model/family/context.ts'
import { handOver } from './model/family/driver.ts'
import { fork } from './model/family/forks.ts'
import { branchAt, rewind, seedMessages, setHistory, switchTo, truncate } from './model/family/lines.ts'
import { toggleAll, toggleCollapse, togglePin } from './model/family/marks.ts'
import { setModel, setThinking } from './model/family/models.ts'
import { queueFollowUp, sendPrompt } from './model/family/prompts.ts'
import { recallQueues, reorderQueue } from './model/family/queues.ts'
import { setTrust } from './model/family/trust.ts'
import { abort, goOn, keepPlan } from './model/family/turns.ts'
import { type Action, concurrently, type Move } from './model/model-run.ts'

/**
 * Stories that fail when a bug of former days comes back, as the model-based suite printed them: what a seed stands for
 * changes with every command that is added, what is written out does not. They are lived through in every run.
 */
export const regressionRuns: Readonly<Record<string, readonly (Move | Action)[]>> = {
  'whoever was not attached could hand over a seat that nobody held': [ask('ann', handOver('ann'))],
  'a late answer to a question that a trust had answered was told that there was no such question': [
    ask(null, sendPrompt('a')),
    finish('', [{ tool: 'touch', n: 0 }]),
    ask(null, setTrust('touch', 'turn', null)),
    ask(null, respond('reject', 'decided')),
  ],
  'the other question that a person answered along with theirs was unknown at once': [
    ask(null, sendPrompt('a')),
    finish('', [
      { tool: 'touch', n: 1 },
      { tool: 'touch', n: 0 },
    ]),
    ask('ann', respond('approve_turn', 'oldest')),
    ask('bob', respond('approve', 'decided', 1)),
  ],
  'an abort that is sent twice at once stops one turn, and once': [
    ask(null, sendPrompt('a')),
    concurrently(ask(null, abort), retry('same', 0)),
    ask(null, sendPrompt('b')),
    retry('same', 1),
  ],
  'what was recalled is given back once more to whoever died over it': [
    attach('ann'),
    ask('ann', sendPrompt('a')),
    ask('ann', queueFollowUp('b')),
    ask('ann', sendPrompt('c')),
    dieOver('ann', recallQueues, 'after'),
  ],
  'the queue is full': [
    ask(null, sendPrompt('a')),
    ...Array.from({ length: limits.promptsQueuedMax + 1 }, () => ask(null, queueFollowUp('b'))),
  ],
  'an order that names one twice is none': [
    ask(null, sendPrompt('a')),
    ask(null, queueFollowUp('b')),
    ask(null, reorderQueue('follow_up', 'twice')),
  ],
  'a level that the model does not know is none': [ask(null, setModel('sim/other')), ask(null, setThinking('low'))],
  'a model that cannot answer is asked again, gives way to another, and is the first to be asked when the turn goes on':
    [
      ask(null, sendPrompt('a')),
      ...[1, 2, 3].flatMap(() => [overload('in a while'), wait('a while')]),
      overload('in a while'),
      overload('in a while'),
      ask(null, queueFollowUp('b')),
      ask(null, abort),
      ask(null, goOn),
      overload('in an hour'),
      overload('in an hour'),
      ask(null, goOn),
      finish('x'),
    ],
  'whoever dies while a model is waited for leaves the turn to be continued': [
    ask(null, sendPrompt('a')),
    overload('in a while'),
    crash('paused'),
    wait('a while'),
    ask(null, goOn),
    overload('in an hour'),
    overload('in a while'),
    crash('killed'),
    wait('a while'),
    ask(null, goOn),
    finish('x'),
  ],
  'the last answer was not known any more on a line that the session had moved to': [
    ask(null, rewind(0)),
    ask(null, keepPlan),
  ],
  'a fork of a line whose beginning is hidden was counted with what is hidden': [
    ask(null, truncate(1)),
    ask(null, fork(null)),
    switchSession(0),
  ],
  'a history was cut by a place on the line that another had just left': [
    concurrently(ask(null, setHistory('a turn')), ask(null, truncate(1))),
  ],
  'a fork that was asked for under the id of another command broke its caller': [
    ask(null, sendPrompt('a')),
    ask(null, fork(null), 0),
  ],
  'a summary was written though its session was unloaded meanwhile': [
    ask(null, seedMessages('calls')),
    ask(null, compact),
    unload,
  ],
  'a session left memory while it wrote a summary that someone waited for': [ask(null, summarize), wait('long')],
  'all calls were opened where none was folded': [
    ask(null, sendPrompt('a')),
    finish('', [{ tool: 'touch', n: 0 }]),
    ask(null, toggleAll),
    ask(null, toggleCollapse('here', 0)),
    ask(null, toggleAll),
  ],
  'what is summed up, pinned and kept goes with its line, through a crash': [
    ask(null, togglePin('here', 1)),
    ask(null, seedMessages('calls')),
    ask(null, compact),
    sumUp(0, 'in sum'),
    ask(null, sendPrompt('a')),
    finish('x'),
    crash('killed'),
    ask(null, branchAt(0)),
    ask(null, sendPrompt('b')),
    finish('y'),
    ask(null, switchTo('kept', 'index', 0)),
    ask(null, sendPrompt('c')),
    finish('x'),
    ask(null, setSummary('in short')),
    unload,
    ask(null, sendPrompt('d')),
  ],
  'the summary of a beginning that is hidden comes back with its line': [
    ask(null, setSummary('in short')),
    ask(null, truncate(0)),
    ask(null, setHistory('none')),
    ask(null, switchTo('kept', 'name', 1)),
    ask(null, sendPrompt('a')),
  ],
}
