/** Shows a key beside what it does. A screen reader learns it from the list of keys. */
export const Key = ({ name }: { readonly name: string }) => (
  <span className="key" aria-hidden="true">
    {name}
  </span>
)
