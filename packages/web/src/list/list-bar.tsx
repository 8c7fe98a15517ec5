import type { RemoteHoldfast } from '@holdfast/client'
import { escapeLine, ok, type Stats } from '@holdfast/protocol'
import type { RefObject } from 'react'
import { useHoldfast } from '../actions/holdfast-context.ts'
import { ariaKeys, KeyHint } from '../keys/key-hint.tsx'
import { runKey } from '../keys/use-key.ts'
import { NeedsServer } from '../screens/needs-server.tsx'
import { baseName } from '../text/format.ts'
import { Popover } from '../ui/popover.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { isNarrowed, type ListFilter, noFilter } from './list-filter.ts'
import type { Grouping } from './list-rows.ts'

type ListBarProps = {
  readonly filter: ListFilter
  readonly onFilter: (filter: ListFilter) => void
  readonly grouping: Grouping
  readonly onGrouping: (grouping: Grouping) => void
  /** There is something to filter. */
  readonly hasSessions: boolean
  readonly searchField: RefObject<HTMLInputElement | null>
  /** Goes to the first row; opens it if `isChosen`. */
  readonly onToRows: (isChosen: boolean) => void
}

/** Searches and filters the list. */
export function ListBar(props: ListBarProps) {
  const { filter, onFilter, grouping, onGrouping, hasSessions, searchField, onToRows } = props
  const set = (change: Partial<ListFilter>) => onFilter({ ...filter, ...change })
  return (
    <search className="list-bar">
      <div className="search-box">
        <input
          ref={searchField}
          type="search"
          aria-label="Search sessions"
          placeholder="Search"
          value={filter.search}
          onChange={(event) => set({ search: event.target.value })}
          aria-keyshortcuts={ariaKeys('search')}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' || event.key === 'Enter') {
              if (event.nativeEvent.isComposing) return
              event.preventDefault()
              onToRows(event.key === 'Enter')
            }
            if (event.key !== 'Escape') return
            event.stopPropagation() // it stops no agent
            if (filter.search === '') searchField.current?.blur()
            set({ search: '' })
          }}
        />
        <span className="search-key" aria-hidden="true">
          <KeyHint of="search" />
        </span>
        <button
          type="button"
          className="quiet palette-button"
          title="Search everything, and run commands"
          onClick={() => runKey('palette')}
        >
          <span className="hidden-text">Commands</span>
          <KeyHint of="palette" />
        </button>
      </div>
      <div className="filters" hidden={!hasSessions}>
        <NeedsServer>
          <Toggle isOn={filter.isWaiting} onChange={(isWaiting) => set({ isWaiting })}>
            Waiting
          </Toggle>
          <Toggle isOn={filter.isRunning} onChange={(isRunning) => set({ isRunning })}>
            Running
          </Toggle>
          <Popover
            title="Filter and group"
            align="end"
            trigger={
              <button type="button" className={isNarrowedBy(filter) ? 'quiet filter-button on' : 'quiet filter-button'}>
                Filter
              </button>
            }
          >
            <FilterFields filter={filter} set={set} grouping={grouping} onGrouping={onGrouping} />
          </Popover>
        </NeedsServer>
      </div>
      {isNarrowedBy(filter) && (
        <div className="filters chosen">
          {filter.workspace !== null && (
            <Chosen name={baseName(filter.workspace)} onClear={() => set({ workspace: null })} />
          )}
          {filter.model !== null && <Chosen name={filter.model} onClear={() => set({ model: null })} />}
        </div>
      )}
      {isNarrowed(filter) && (
        <button
          type="button"
          className="quiet clear-filter"
          onClick={() => onFilter({ ...noFilter, search: filter.search })}
        >
          Show all sessions
        </button>
      )}
    </search>
  )
}

const isNarrowedBy = ({ workspace, model }: ListFilter): boolean => workspace !== null || model !== null

type ToggleProps = {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly children: React.ReactNode
}

const Toggle = ({ isOn, onChange, children }: ToggleProps) => (
  <button type="button" className="filter" aria-pressed={isOn} onClick={() => onChange(!isOn)}>
    {children}
  </button>
)

/** A filter that is on, with a way to drop it. */
const Chosen = ({ name, onClear }: { readonly name: string; readonly onClear: () => void }) => (
  <button type="button" className="filter" aria-label={`Remove the filter ${escapeLine(name)}`} onClick={onClear}>
    {escapeLine(name)} <span aria-hidden="true">✕</span>
  </button>
)

type FilterFieldsProps = Pick<ListBarProps, 'filter' | 'grouping' | 'onGrouping'> & {
  readonly set: (change: Partial<ListFilter>) => void
}

/** Chooses the workspace, the model and the grouping. */
function FilterFields({ filter, set, grouping, onGrouping }: FilterFieldsProps) {
  const holdfast = useHoldfast()
  const { value, fault } = useLoaded(() => readPlaces(holdfast), [holdfast])
  const workspaces = withChosen(value?.workspaces ?? [], filter.workspace)
  const models = withChosen(value?.models ?? [], filter.model)
  return (
    <div className="filter-fields">
      <label>
        Workspace
        <select
          value={filter.workspace ?? ''}
          onChange={({ target }) => set({ workspace: target.value === '' ? null : target.value })}
        >
          <option value="">All workspaces</option>
          {workspaces.map((workspace) => (
            <option key={workspace} value={workspace}>
              {escapeLine(workspace) || 'No folder'}
            </option>
          ))}
        </select>
      </label>
      <label>
        Model
        <select
          value={filter.model ?? ''}
          onChange={({ target }) => set({ model: target.value === '' ? null : target.value })}
        >
          <option value="">All models</option>
          {models.map((model) => (
            <option key={model} value={model}>
              {escapeLine(model)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Group by
        <select value={grouping} onChange={({ target }) => onGrouping(target.value === 'date' ? 'date' : 'workspace')}>
          <option value="date">Date</option>
          <option value="workspace">Workspace</option>
        </select>
      </label>
      {fault && <small className="bad">{escapeLine(fault.message)}</small>}
    </div>
  )
}

const withChosen = (known: readonly string[], chosen: string | null): readonly string[] =>
  chosen === null || known.includes(chosen) ? known : [chosen, ...known]

type Places = { readonly workspaces: readonly string[]; readonly models: readonly string[] }

/** Reads which workspaces and models the sessions have; who may not see the figures gets those of the newest sessions. */
async function readPlaces({ stats, handles }: Pick<RemoteHoldfast, 'stats' | 'handles'>) {
  const all = await stats({ days: 1 }).then(placesOfStats, () => null)
  if (all !== null) return ok(all)
  const newest = await handles.list({ limit: 200 })
  if (!newest.ok) return newest
  const { sessions } = newest.value
  return ok({
    workspaces: distinct(sessions.map((one) => one.workspace)),
    models: distinct(sessions.map((one) => one.model)),
  })
}

const placesOfStats = ({ workspaces, models }: Stats): Places => ({
  workspaces: workspaces.map(({ workspace }) => workspace),
  models: models.map(({ model }) => model),
})

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)].sort()
