-- Running a command with a buffer that has no window as the current one.
local M = {}

function M.execute(nr, command)
  return vim.api.nvim_buf_call(nr, function()
    return vim.fn['vim_mcp#quiet#Execute'](command)
  end)
end

return M
