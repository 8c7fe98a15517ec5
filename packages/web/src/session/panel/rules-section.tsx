import {
  coverageText,
  errorMessage,
  escapeLine,
  type ListedPermission,
  listCoverageText,
  type PermissionRule,
} from '@holdfast/protocol'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { useHoldfast } from '../../actions/holdfast-context.ts'
import { useOwnsServer } from '../../models/server-context.ts'
import { NeedsServer, useComebacks } from '../../screens/needs-server.tsx'
import { unruledText } from '../../start/permission-menu.tsx'
import { baseName } from '../../text/format.ts'
import { useLive } from '../state/session-context.ts'
import { Loading, PanelSection } from './panel-section.tsx'

type Verdict = PermissionRule['verdict']

/** Lists the permission rules of the server, for those who may see them. */
export function RulesSection({ workspace }: { readonly workspace: string }) {
  const mayChange = useOwnsServer()
  if (mayChange === null) return null
  if (mayChange) return <ServerRules workspace={workspace} />
  return (
    <PanelSection title="Permission rules">
      <p className="nothing">Rules apply to the whole server. Its admin sees and changes them.</p>
    </PanelSection>
  )
}

/** Lists the user's permission rules that apply here, with a way to add and remove them. */
function ServerRules({ workspace }: { readonly workspace: string }) {
  const { rules, problem, add, remove } = useRules(workspace)
  const unruled = useLive(({ view }) => (view ? unruledText(view) : ''))
  const uncovered = listCoverageText(rules ?? [])
  return (
    <PanelSection title="Permission rules">
      {problem !== null && (
        <p className="fault" role="alert">
          {escapeLine(problem)}
        </p>
      )}
      {rules === null && problem === null && <Loading />}
      {rules?.length === 0 && problem === null && <p className="nothing">{unruled}</p>}
      <NeedsServer>
        <ul className="rules">
          {rules?.map((rule) => (
            <li key={rule.id}>
              <span className={`verdict verdict-${rule.verdict}`}>{rule.verdict}</span>
              <span className="rule-text">
                <code>{escapeLine(rule.tool)}</code>
                {rule.pattern !== undefined && <code>{escapeLine(rule.pattern)}</code>}
                <span className="panel-about">
                  {rule.exact && 'exactly this · '}
                  {rule.workspace === undefined ? 'everywhere' : `in ${escapeLine(baseName(rule.workspace))}`}
                </span>
              </span>
              <button type="button" aria-label={`Remove the rule ${nameOf(rule)}`} onClick={() => remove(rule.id)}>
                Remove
              </button>
            </li>
          ))}
        </ul>
        {uncovered !== null && <p className="nothing">{uncovered}</p>}
        <AddRule workspace={workspace} onAdd={add} />
      </NeedsServer>
    </PanelSection>
  )
}

const nameOf = ({ verdict, tool, pattern }: ListedPermission): string =>
  [verdict, escapeLine(tool), ...(pattern === undefined ? [] : [escapeLine(pattern)])].join(' ')

type AddRuleProps = { readonly workspace: string; readonly onAdd: (rule: PermissionRule) => Promise<boolean> }

function AddRule({ workspace, onAdd }: AddRuleProps) {
  const [verdict, setVerdict] = useState<Verdict>('allow')
  const [tool, setTool] = useState('shell')
  const [pattern, setPattern] = useState('')
  const [isHere, setHere] = useState(true)
  const note = useId()
  const about = coverageText({ verdict, tool: tool.trim(), pattern: pattern.trim() || undefined })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const rule = { verdict, tool: tool.trim(), ...(pattern.trim() !== '' && { pattern: pattern.trim() }) }
    if (await onAdd({ ...rule, ...(isHere && { workspace }) })) setPattern('')
  }
  return (
    <details className="add-rule">
      <summary>Add a rule</summary>
      <form onSubmit={submit} aria-describedby={note}>
        <select aria-label="Verdict" value={verdict} onChange={(event) => setVerdict(verdictOf(event.target.value))}>
          <option value="allow">allow</option>
          <option value="ask">ask</option>
          <option value="deny">deny</option>
        </select>
        <input
          aria-label="Tool"
          required
          maxLength={200}
          value={tool}
          onChange={(event) => setTool(event.target.value)}
        />
        <input
          aria-label="Pattern"
          placeholder="git status, or src/**"
          maxLength={1000}
          value={pattern}
          spellCheck={false}
          onChange={(event) => setPattern(event.target.value)}
        />
        <label>
          <input type="checkbox" checked={isHere} onChange={(event) => setHere(event.target.checked)} />
          Only in this folder
        </label>
        <button type="submit">Add rule</button>
      </form>
      <p id={note} className="nothing">
        Deny beats ask, ask beats allow. A pattern is words of a command, or a glob on a path; without one the rule
        covers every call of the tool.
      </p>
      <p className="nothing" role="status">
        {about}
      </p>
    </details>
  )
}

const verdictOf = (value: string): Verdict => (value === 'deny' || value === 'ask' ? value : 'allow')

/** Loads the rules that apply to a folder. */
function useRules(workspace: string) {
  const permissions = useHoldfast()
  const [rules, setRules] = useState<readonly ListedPermission[] | null>(null) // null until loaded
  const [problem, setProblem] = useState<string | null>(null)
  /** Runs a request and loads the list again. Returns whether it succeeded. */
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      setRules(await permissions.permissions({ workspace }))
      setProblem(null)
      return true
    } catch (error) {
      setProblem(errorMessage(error))
      return false
    }
  }
  const comebacks = useComebacks()
  // An answer to an approval may store a rule.
  const waiting = useLive(({ view }) => view?.pendingApprovals.length ?? 0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the folder and the answers change the rules
  useEffect(() => void run(async () => undefined), [workspace, waiting, comebacks])
  return {
    rules,
    problem,
    add: (rule: PermissionRule) => run(() => permissions.addPermission(rule)),
    remove: (id: string) => run(() => permissions.removePermission(id)),
  }
}
