-- What vim.diagnostic knows (Neovim 0.6 and later).
local M = {}

-- The diagnostics of buffer `only`, of all when it is 0. `place` is {line, byte,
-- end line, end byte}, from 1, ends included, 0 where unknown.
function M.list(only)
  if not vim.diagnostic then return {} end
  local told = {}
  for _, one in ipairs(vim.diagnostic.get(only > 0 and only or nil)) do
    local code = one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code)
    local last = one.end_lnum or one.lnum
    told[#told + 1] = {
      bufnr = one.bufnr or 0,
      severity = one.severity or 1,
      message = tostring(one.message or ''),
      source = tostring(one.source or ''),
      code = code and tostring(code) or '',
      place = {
        one.lnum + 1, (one.col or 0) + 1,
        one.end_col and last + 1 or 0, one.end_col and math.max(one.end_col, 1) or 0,
      },
    }
  end
  return told
end

return M
